// What goes on while the other clients are connected: writes, reads, lists that are given up half-way, feeds that come
// and go, and connections that are opened and closed. All of this happens at a steady pace, so that runs can be
// compared.

import { connect } from "node:net";
import type { Program } from "../program.ts";
import type { Tally } from "../torture/part.ts";
import type { Random } from "../wire/random.ts";

const stepMs = 100;

export class Churn {
  readonly #program: Program;
  readonly #random: Random;
  readonly #ids: string[];
  readonly #tally: Tally;
  #isOver = false;
  /** How long the answers took, in milliseconds, since this list was last emptied. */
  latencies: number[] = [];
  readonly #running: Promise<void>;

  /**
   * Each request is an operation of the tally, except for those that `#giveUp` sends. An answer with an error, or no
   * answer, is wrong.
   */
  constructor(program: Program, ids: readonly string[], random: Random, tally: Tally) {
    this.#program = program;
    this.#ids = [...ids];
    this.#random = random;
    this.#tally = tally;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const startedAt = performance.now();
      await Promise.all([this.#write(), this.#read(), this.#read(), this.#connectBriefly()]);
      if (this.#random.chance(0.1)) this.#giveUp("/api/todoitems/");
      if (this.#random.chance(0.2)) this.#giveUp("/changes");
      await Bun.sleep(Math.max(0, stepMs - (performance.now() - startedAt)));
    }
  }

  async #write(): Promise<void> {
    const way = this.#random.below(4);
    const id = this.#random.pick(this.#ids);
    const json = `{"ID":"${id}","Name":"Changed","Notes":"${"x".repeat(this.#random.below(200))}"}`;
    const headers = { "Content-Type": "application/json" };
    if (way < 2) await this.#ask(`/api/todoitems/${id}`, { method: "PUT", body: json, headers });
    else {
      const created = crypto.randomUUID();
      const path = `/api/todoitems/${created}`;
      await this.#ask(path, { method: "POST", body: `{"ID":"${created}"}`, headers });
      await this.#ask(path, { method: "DELETE" });
    }
  }

  #read(): Promise<void> {
    return this.#ask(`/api/todoitems/${this.#random.pick(this.#ids)}`, {});
  }

  async #ask(path: string, init: RequestInit): Promise<void> {
    const startedAt = performance.now();
    this.#tally.operations++;
    try {
      const response = await this.#program.fetch(path, { ...init, signal: AbortSignal.timeout(30_000) });
      await response.arrayBuffer();
      if (!response.ok) this.#tally.noteWrong(`${init.method ?? "GET"} was answered with ${response.status}`);
    } catch (error) {
      this.#tally.noteWrong(`${init.method ?? "GET"} was not answered: ${error}`);
    }
    this.latencies.push(performance.now() - startedAt);
  }

  /** Sends a request on a new connection, and closes the connection after the answer. */
  #connectBriefly(): Promise<void> {
    return this.#ask("/health/live", { headers: { Connection: "close" } });
  }

  /** Begins to read something long and leaves at the first bytes. */
  #giveUp(path: string): void {
    const socket = connect(Number(new URL(this.#program.origin).port), "127.0.0.1");
    socket.on("connect", () => socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`));
    socket.on("data", () => socket.destroy());
    socket.on("error", () => socket.destroy());
  }
}
