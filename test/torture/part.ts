// A part of `npm run torture`: one attack, repeated until its time is over, and the figures it collects.

import type { Random } from "../wire/random.ts";

/** One defect can break a promise thousands of times. Only this many findings are described, but all are counted. */
const findingsMax = 20;

/** What a part has done and found. Update the figures during the work, so that they are not lost if the part throws. */
export class Tally {
  operations = 0;
  faults = 0;
  lost = 0;
  wrong = 0;
  readonly findings: string[] = [];
  /** Other figures for the report. Each key says what is counted. */
  readonly notes: Record<string, number> = {};

  /** Records that an answered write is gone. */
  noteLost(finding: string): void {
    this.lost++;
    this.#describe(finding);
  }

  /** Records any finding other than a lost write. */
  noteWrong(finding: string): void {
    this.wrong++;
    this.#describe(finding);
  }

  /** Adds what a single round has found. `where` says which round it was. */
  addFindings(round: Tally, where: string): void {
    this.lost += round.lost;
    this.wrong += round.wrong;
    for (const finding of round.findings) this.#describe(`${where}: ${finding}`);
  }

  #describe(finding: string): void {
    if (this.findings.length < findingsMax) this.findings.push(finding);
  }

  count(note: string, number = 1): void {
    this.notes[note] = (this.notes[note] ?? 0) + number;
  }
}

/** What a part gets when it runs: random numbers, a tally for its findings, and a time. */
export interface Turn {
  readonly random: Random;
  readonly tally: Tally;
  readonly seconds: number;
  /** False once the time is over. */
  goOn(): boolean;
}

export interface Part {
  readonly name: string;
  /** What must hold, as a sentence for the report. */
  readonly promise: string;
  /** How much of the whole time this part gets, compared with other parts. */
  readonly weight: number;
  /** The shortest time, in seconds, in which the part can finish one round. */
  readonly secondsMin?: number;
  /** How long the short round in `npm test` goes on, in seconds. Undefined if only `npm run torture` runs the part. */
  readonly shortSeconds?: number;
  /** Why this machine cannot run the part. Undefined if it can. */
  missing?(): string | undefined;
  /** Attacks until the time is over, and records what it finds. An error that it throws counts as a finding. */
  run(turn: Turn): Promise<void>;
}

export function missingStrace(): string | undefined {
  if (process.platform !== "linux") return "strace needs Linux";
  return Bun.which("strace") ? undefined : "strace is not installed";
}
