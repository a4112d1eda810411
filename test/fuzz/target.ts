// The service under attack, and the questions that show whether it is still well: another client is answered, the items
// are what they were, and the process ends cleanly.

import { connect as connectTls } from "node:tls";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { RawConnection } from "../http/raw-connection.ts";
import { Program } from "../program.ts";
import type { Tally } from "../torture/part.ts";
import { emptySettings, encode, type Frame, getRequest, preface } from "./http2-frames.ts";

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
    const args = ["--port", "0", "--https-port", "0", "--store", "memory:", ...limits];
    const program = await Program.start({ args, environment });
    for (let n = 0; n < 20; n++) await program.send("POST", "/api/todoitems/", `{"n":${n}}`);
    return new Target(program, folder, await program.list());
  }

  #port(protocol: "http:" | "https:"): number {
    const origin = this.#program.origins.find((text) => new URL(text).protocol === protocol);
    return Number(new URL(origin ?? "").port);
  }

  /**
   * Sends bytes over HTTP/1.1, stops sending, and returns the statuses of the answers. Undefined if the connection
   * stays open.
   */
  async sendStream(pieces: readonly string[]): Promise<number[] | undefined> {
    const connection = await RawConnection.open(this.#port("http:"));
    for (const piece of pieces) connection.send(piece);
    connection.endSending();
    const received = await withinLimit(connection.untilClosed());
    connection.close();
    return received === undefined ? undefined : [...received.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, n]) => Number(n));
  }

  /** Sends frames over HTTP/2, stops sending, and returns what came back. Undefined if the connection stays open. */
  async sendFrames(frames: readonly Frame[], start: Buffer = preface): Promise<Buffer | undefined> {
    const port = this.#port("https:");
    // The types do not know allowHalfOpen, so the options cannot be written into the call.
    const options = { port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["h2"], allowHalfOpen: true };
    const socket = connectTls(options);
    const received: Buffer[] = [];
    socket.on("data", (bytes: Buffer) => received.push(bytes));
    // An error such as a reset is expected. It also closes the connection.
    socket.on("error", () => {});
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.once("secureConnect", () => socket.end(Buffer.concat([start, ...frames.map(encode)])));
    socket.once("end", () => socket.destroy());
    const isClosed = (await withinLimit(closed.then(() => true))) ?? false;
    socket.destroy();
    return isClosed ? Buffer.concat(received) : undefined;
  }

  /** Sends requests as ordinary clients do, over both protocols. Says what is wrong. Undefined if all is well. */
  async findHarm(): Promise<string | undefined> {
    const list = await withinLimit(this.#program.list());
    if (list === undefined) return "another client is not answered";
    if (list !== this.#list) return "the items have changed";
    const received = await this.sendFrames([emptySettings, getRequest(1, "/api/todoitems/")]);
    return received?.includes(this.#list) ? undefined : "another client is not answered over HTTP/2";
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
