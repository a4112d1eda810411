// The service under attack, and the questions that show whether it is still well: another client is answered, the items
// are what they were, and the process ends cleanly.

import { temporaryFolder } from "../engines/engine-kinds.ts";
import { RawConnection } from "../http/raw-connection.ts";
import { Program } from "../program.ts";
import type { Tally } from "../torture/part.ts";

/**
 * Far longer than the service's time limits of 2 seconds. A client that is neither answered nor disconnected by then
 * counts as waiting for ever.
 */
const hangMs = 20_000;
const allowedFailures = new Set([503, 505]);

export class Target {
  readonly #program: Program;
  readonly #folder: ReturnType<typeof temporaryFolder>;
  readonly #list: string;

  private constructor(program: Program, folder: ReturnType<typeof temporaryFolder>, list: string) {
    this.#program = program;
    this.#folder = folder;
    this.#list = list;
  }

  static async start(): Promise<Target> {
    const folder = temporaryFolder();
    const environment = { XDG_DATA_HOME: folder.path, HOME: folder.path };
    const limits = ["--idle-timeout", "2", "--request-timeout", "2"];
    const args = ["--port", "0", "--store", "memory:", ...limits];
    const program = await Program.start({ args, environment, hasSmallLimits: true });
    for (let n = 0; n < 20; n++) await program.send("POST", "/api/todoitems/", `{"n":${n}}`);
    return new Target(program, folder, await program.list());
  }

  /**
   * Sends bytes, stops sending, and returns the statuses of the answers. Undefined if the connection stays open.
   */
  async sendStream(pieces: readonly string[]): Promise<number[] | undefined> {
    const connection = await RawConnection.open(Number(new URL(this.#program.origin).port));
    for (const piece of pieces) connection.send(piece);
    connection.endSending();
    const received = await withinLimit(connection.untilClosed());
    connection.close();
    return received === undefined ? undefined : [...received.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, n]) => Number(n));
  }

  /** Asks for the list as an ordinary client does. Says what is wrong. Undefined if all is well. */
  async findHarm(): Promise<string | undefined> {
    const list = await withinLimit(this.#program.list());
    if (list === undefined) return "another client is not answered";
    return list === this.#list ? undefined : "the items have changed";
  }

  async stop(tally: Tally): Promise<void> {
    const { exitCode, stderr } = await this.#program.stop();
    this.#folder.dispose();
    if (exitCode !== 0 || /error/i.test(stderr)) tally.noteWrong(`the service ended with ${exitCode}: ${stderr}`);
  }
}

/** The server errors (500 and above) that the documents do not allow. */
export function undocumented(statuses: readonly number[]): number[] {
  return statuses.filter((status) => status >= 500 && !allowedFailures.has(status));
}

async function withinLimit<Result>(promise: Promise<Result>): Promise<Result | undefined> {
  const limit = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => limit.resolve(undefined), hangMs);
  try {
    return await Promise.race([promise, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}
