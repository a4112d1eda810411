// Feeds bytes to one of our connections and records the requests that its handler gets. Of the files that
// compare our parser with llhttp, only this one knows how to create a connection.

import { Clock } from "../../src/wire/clock.ts";
import { Connection } from "../../src/wire/connection.ts";
import type { ConnectionHost, Sender } from "../../src/wire/connection-host.ts";
import { KnownHeads } from "../../src/wire/known-heads.ts";
import { Answer, type Handler, type HttpRequest } from "../../src/wire/message.ts";
import { Refusal } from "../../src/wire/refusal.ts";
import { SharedLimit } from "../../src/wire/shared-limit.ts";
import { UnsentBytes } from "../../src/wire/unsent-bytes.ts";

export interface OurMessage {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly fields: ReadonlyMap<string, string>;
  /** Undefined if the body was not read, was refused, or never ended. */
  body: string | undefined;
}

const bodyBytesMax = 1024 ** 2;
/** How many turns of the microtask queue to wait. A connection needs fewer turns to continue after an answer. */
const quietTurns = 6;

class Recorder implements ConnectionHost, Handler {
  readonly limits = {
    requestTimeoutMs: 30_000,
    idleTimeoutMs: 30_000,
    unfinishedBodies: new SharedLimit(1024 ** 2),
    unsentBytes: new UnsentBytes({ bytesMax: 1024 ** 2, onCut() {} }),
  };
  readonly clock = new Clock();
  readonly knownHeads: KnownHeads;
  readonly isDraining = false;
  readonly messages: OurMessage[] = [];
  readonly #readsBodies: boolean;
  #toSend: Sender[] = [];

  constructor(readsBodies: boolean, knownHeads: KnownHeads) {
    this.knownHeads = knownHeads;
    this.#readsBodies = readsBodies;
  }

  handle(request: HttpRequest): Answer | Promise<Answer> {
    const { method, path, query, headers } = request;
    if (!(headers instanceof Map)) throw new Error("the header fields of a request are no longer a Map");
    const message: OurMessage = { method, path, query, fields: headers, body: undefined };
    this.messages.push(message);
    request.remembered = message;
    return this.#readsBodies ? this.#readBody(request, message) : new Answer(200, {}, "");
  }

  async #readBody(request: HttpRequest, message: OurMessage): Promise<Answer> {
    try {
      message.body = Buffer.from(await request.readBody(bodyBytesMax)).toString("latin1");
      return new Answer(200, {}, "");
    } catch (error) {
      if (error instanceof Refusal) return this.refuse(error);
      throw error;
    }
  }

  refuse({ closesConnection }: Refusal): Answer {
    return new Answer(400, {}, "", { closesConnection });
  }

  sendSoon(sender: Sender): void {
    this.#toSend.push(sender);
  }

  async settle(): Promise<void> {
    for (let quiet = 0; quiet < quietTurns; quiet++) {
      for (const connection of this.#toSend.splice(0)) {
        connection.drained();
        quiet = 0;
      }
      await undefined;
    }
  }
}

/** A socket that accepts everything at once. */
const transport = {
  write: (piece: string | Uint8Array, offset = 0, length = Buffer.byteLength(piece) - offset) => length,
  shutdown() {},
  end() {},
  terminate() {},
  pause() {},
  resume() {},
};

/**
 * Returns the requests that a connection reads from these bytes, with their bodies if `readsBodies` is true. Heads that
 * are in `known` are not parsed.
 */
export async function ourReading(
  pieces: readonly Buffer[],
  readsBodies: boolean,
  known = new KnownHeads(),
): Promise<readonly OurMessage[]> {
  const host = new Recorder(readsBodies, known);
  const connection = new Connection(transport, "192.0.2.1", false, host, host);
  for (const piece of pieces) {
    connection.receive(piece);
    await host.settle();
  }
  connection.closed();
  await host.settle();
  return host.messages;
}
