// One instance of the service in a simulation: the real app, the real collection and the real PostgreSQL engine. The
// client library under the engine, the time and all random numbers are simulated. Requests reach the app without
// sockets.

import { StoreError } from "../../src/collection/engine.ts";
import type { ListKey } from "../../src/collection/list-key.ts";
import { TodoStore } from "../../src/collection/todo-store.ts";
import { PostgresEngine } from "../../src/engines/postgres/postgres-engine.ts";
import { App } from "../../src/http/app.ts";
import type { Answer, StreamBody } from "../../src/wire/message.ts";
import { isStream, PieceBody } from "../../src/wire/message.ts";
import { appDefaults } from "../app-defaults.ts";
import { checkAnswers } from "../description/checked-answer.ts";
import { smallLimits } from "../small-limits.ts";
import { Violation } from "./ledger.ts";
import { addressOf } from "./store-state.ts";

export interface SimulatedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface SimulatedAnswer {
  readonly status: number;
  readonly etag: string | undefined;
  readonly body: string;
}

export class SimulatedInstance {
  readonly name: string;
  readonly store: TodoStore;
  readonly #app: App;
  readonly #killed = Promise.withResolvers<undefined>();
  #isKilled = false;

  private constructor(name: string, store: TodoStore, onDefect: (defect: Violation) => void) {
    this.name = name;
    this.store = store;
    this.#app = checkAnswers(
      new App(store, {
        ...appDefaults,
        lists: "many",
        limits: smallLimits,
        // A warning says that the store has failed. The simulation causes that on purpose. An error is a defect.
        log: (level, message) => {
          if (level === "error") onDefect(new Violation(`the service has a defect: ${message}`));
        },
      }),
    );
  }

  /** Returns undefined if the store cannot be reached. */
  static async start(name: string, onDefect: (defect: Violation) => void): Promise<SimulatedInstance | undefined> {
    try {
      return new SimulatedInstance(name, await openStore(name), onDefect);
    } catch (error) {
      if (error instanceof StoreError) return undefined;
      throw error;
    }
  }

  get isKilled(): boolean {
    return this.#isKilled;
  }

  /** From now on, this instance answers nobody. */
  kill(): void {
    this.#isKilled = true;
    this.#killed.resolve(undefined);
    this.#app.changeFeed.stop();
  }

  /** Returns undefined if the instance is killed before it answers. */
  async request(request: SimulatedRequest): Promise<SimulatedAnswer | undefined> {
    const answer = await this.#send(request);
    return answer && { status: answer.status, etag: answer.headers["ETag"], body: textOf(answer.body) };
  }

  /** Opens a change feed. Returns undefined if the instance cannot open a feed now. */
  async feed(list: ListKey, since: string): Promise<StreamBody | undefined> {
    const headers = { accept: "text/event-stream", "last-event-id": since };
    const body = (await this.#send({ method: "GET", path: `${addressOf(list)}/changes`, headers }))?.body;
    return isStream(body) ? body : undefined;
  }

  async #send({ method, path, headers = {}, body = "" }: SimulatedRequest): Promise<Answer | undefined> {
    const [pathOnly = "", query = ""] = path.split("?");
    const answer = this.#app.handle({
      method,
      path: pathOnly,
      query,
      headers: new Map(Object.entries({ "content-type": "application/json", ...headers })),
      peer: "127.0.0.1",
      isSecure: false,
      readBody: () => Buffer.from(body),
    });
    return Promise.race([answer, this.#killed.promise]);
  }
}

/** In half of the instances, every list stays in memory. In the others, there is hardly room for one. */
async function openStore(name: string): Promise<TodoStore> {
  const address = { hosts: [{ host: name, port: 1 }], user: "", password: "", database: "", tls: false } as const;
  const engine = await PostgresEngine.open(address, { readOnly: false, limits: smallLimits, onOtherHistory: () => {} });
  return TodoStore.open(engine, {
    listMemoryMax: Math.random() < 0.5 ? undefined : 5_000,
    limits: smallLimits,
  });
}

function textOf(body: Answer["body"]): string {
  if (body instanceof PieceBody) return Buffer.concat(body.pieces.map(({ bytes }) => bytes)).toString();
  if (!isStream(body))
    return body === undefined || typeof body === "string" ? (body ?? "") : Buffer.from(body).toString();
  const pieces: Uint8Array[] = [];
  let isOver = false;
  const source = body.open({ write: (bytes) => void pieces.push(bytes), end: () => (isOver = true) });
  while (!isOver) source.pull();
  return Buffer.concat(pieces).toString();
}
