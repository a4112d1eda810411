// Takes the place of the client library `postgres`, and offers the part of the library's interface that the engine
// uses. Messages between an instance and the simulated server take time, stay in order, and are lost when a connection
// is lost.

import type { Faults } from "./faults.ts";
import type { SeededRandom } from "./random.ts";
import { ServerError } from "./server-error.ts";
import type { Result, ServerSession, SimulatedDatabase, Statement } from "./simulated-database.ts";

interface ClientOptions {
  /** The library takes a list of hosts. In a simulation, the only member of this list is the name of the instance. */
  readonly host: readonly string[];
  readonly onnotice: (notice: { readonly code: string }) => void;
  readonly onclose: () => void;
}

/** An error of the connection, with a code that the engine recognises. */
class ConnectionError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`simulated error ${code}`);
    this.code = code;
  }
}

/** The connections of all instances to one simulated server. */
export class SimulatedNetwork {
  readonly #database: SimulatedDatabase;
  readonly #random: SeededRandom;
  readonly #connections = new Set<Connection>();
  readonly #killed = new Set<string>();

  constructor(database: SimulatedDatabase, random: SeededRandom) {
    this.#database = database;
    this.#random = random;
  }

  /** Makes a client, as the default export of the library `postgres` does. */
  open(options: ClientOptions): object {
    const connection = new Connection(this.#database, this.#random, options, () =>
      this.#connections.delete(connection),
    );
    if (!this.#killed.has(options.host[0] ?? "")) this.#connections.add(connection);
    else connection.kill();
    const query = (statement: Statement) => new Query(statement, (sent) => connection.send(sent));
    const sql = (strings: TemplateStringsArray, ...parameters: unknown[]) =>
      query({ text: strings.raw.join("?").replaceAll(/\s+/g, " ").trim(), parameters });
    return Object.assign(sql, {
      unsafe: () => query({ text: sessionSettings, parameters: [] }),
      end: ({ timeout }: { readonly timeout: number }) => connection.end(timeout * 1_000),
    });
  }

  /** Loses one of the connections, usually one with an answer that is still to come. */
  cut(): void {
    const waiting = [...this.#connections].filter(({ isWaiting }) => isWaiting);
    const candidates = waiting.length > 0 && this.#random.chance(0.8) ? waiting : [...this.#connections];
    if (candidates.length > 0) this.#random.pick(candidates).lose(this.#random.between(0, 3_000));
  }

  /** The process of an instance ends at once and closes nothing. Whatever its code still does has no effect. */
  kill(host: string): void {
    this.#killed.add(host);
    for (const connection of this.#connections) if (connection.host === host) connection.kill();
  }
}

/** Stands for the statements that prepare a session. */
const sessionSettings = "session settings";

/** A query that is sent when it is first awaited, or by `execute` or `forEach`. The library's queries do the same. */
class Query extends Promise<unknown> {
  readonly statement: Statement;
  readonly #send: (query: Query) => void;
  #isSent = false;
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
  onRow: ((row: object) => void) | undefined;

  constructor(statement: Statement, send: (query: Query) => void) {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    super((take, fail) => void promise.then(take, fail));
    this.statement = statement;
    this.#send = send;
    this.resolve = resolve;
    this.reject = reject;
  }

  static override get [Symbol.species]() {
    return Promise;
  }

  execute(): this {
    if (!this.#isSent) queueMicrotask(() => this.#send(this));
    this.#isSent = true;
    return this;
  }

  forEach(onRow: (row: object) => void): this {
    this.onRow = onRow;
    return this.execute();
  }

  // biome-ignore lint/suspicious/noThenProperty: the library's queries are promises that are sent when they are awaited.
  override then<A = unknown, B = never>(
    take?: ((value: unknown) => A | PromiseLike<A>) | null,
    fail?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.execute();
    return super.then(take, fail);
  }
}

/** The messages in one direction of a connection. */
class Channel {
  readonly #database: SimulatedDatabase;
  readonly #faults: Faults;
  #lastAtMs = 0;
  isBroken = false;
  /** How much later than planned the messages on the way arrive. */
  delayMs = 0;

  constructor(database: SimulatedDatabase) {
    this.#database = database;
    this.#faults = database.faults;
  }

  /** Delivers a message after all earlier messages, unless the channel breaks first. */
  send(deliver: () => void): void {
    const { time } = this.#database;
    // The simulation's clock adds up to 0.01 ms to each delay, so a distance of 0.03 ms keeps the order.
    this.#lastAtMs = Math.max(this.#lastAtMs + 0.03, time.nowMs + this.#faults.latencyMs());
    const arrive = () => {
      if (!this.isBroken) deliver();
    };
    time.after(this.#lastAtMs - time.nowMs, () => {
      if (this.delayMs > 0) time.after(this.delayMs, arrive);
      else arrive();
    });
  }
}

class Connection {
  readonly host: string;
  readonly #database: SimulatedDatabase;
  readonly #random: SeededRandom;
  readonly #options: ClientOptions;
  readonly #onClosed: () => void;
  readonly #toServer: Channel;
  readonly #toClient: Channel;
  readonly #unanswered = new Set<Query>();
  #session: ServerSession | undefined;
  #state: "new" | "connecting" | "open" | "lost" | "closed" | "killed" = "new";

  constructor(database: SimulatedDatabase, random: SeededRandom, options: ClientOptions, onClosed: () => void) {
    this.host = options.host[0] ?? "";
    this.#database = database;
    this.#random = random;
    this.#options = options;
    this.#onClosed = onClosed;
    this.#toServer = new Channel(database);
    this.#toClient = new Channel(database);
  }

  get isWaiting(): boolean {
    return this.#unanswered.size > 0;
  }

  send(query: Query): void {
    if (this.#state === "closed") query.reject(new ConnectionError("CONNECTION_ENDED"));
    if (this.#state === "closed" || this.#state === "killed") return;
    this.#unanswered.add(query);
    if (this.#state === "new") this.#connect();
    if (this.#state === "open") this.#transmit(query);
  }

  /**
   * Answers on the way are lost. Requests on the way either all reach the server or are all lost. The client learns of
   * the loss after `clientLearnsAfterMs`.
   */
  lose(clientLearnsAfterMs: number): void {
    if (this.#state === "closed" || this.#state === "killed" || this.#state === "lost") return;
    this.#state = "lost";
    this.#breakOff();
    this.#database.time.after(clientLearnsAfterMs, () => this.#close("CONNECTION_CLOSED"));
  }

  kill(): void {
    this.#breakOff();
    this.#state = "killed";
    this.#onClosed();
  }

  /** Closes the connection. Before that, waits at most `ms` for the answers that are still to come. */
  async end(ms: number): Promise<void> {
    if (ms > 0 && this.#unanswered.size > 0) {
      await Promise.race([Promise.allSettled(this.#unanswered), this.#database.time.sleep(ms)]);
    }
    if (this.#state === "closed" || this.#state === "killed") return;
    if (this.#state !== "lost") this.#breakOff();
    this.#close("CONNECTION_DESTROYED");
  }

  #connect(): void {
    this.#state = "connecting";
    this.#toServer.send(() => {
      if (this.#database.faults.isAway) {
        this.#toClient.send(() => this.#close("ECONNREFUSED"));
        return;
      }
      this.#session = this.#database.connect((error) => this.#terminated(error));
      this.#toClient.send(() => {
        if (this.#state !== "connecting") return;
        this.#state = "open";
        for (const query of this.#unanswered) this.#transmit(query);
      });
    });
  }

  #transmit(query: Query): void {
    const isPreparing = query.statement.text === sessionSettings;
    this.#toServer.send(() => {
      if (isPreparing) this.#answer(query, { rows: [[{ standby: false }]], command: "SELECT" });
      else this.#session?.receive(query.statement, (result) => this.#answer(query, result));
    });
  }

  #answer(query: Query, result: Result | ServerError): void {
    if (result instanceof ServerError) {
      this.#settle(() => query.reject(result), query);
      return;
    }
    const rows = [...result.rows];
    const { onRow } = query;
    // The first row may arrive long before the others, so it is sent in a message of its own.
    const first = onRow && rows.shift();
    if (first) this.#toClient.send(() => onRow(first));
    if (result.isUnreplicated) this.#toClient.send(() => this.#options.onnotice({ code: "01000" }));
    this.#settle(() => {
      for (const row of onRow ? rows : []) onRow?.(row);
      query.resolve(Object.assign(onRow ? [] : rows, { command: result.command }));
    }, query);
  }

  #settle(settle: () => void, query: Query): void {
    this.#toClient.send(() => {
      this.#unanswered.delete(query);
      settle();
    });
  }

  /** The server has ended the session. Sometimes its last message still reaches the client. */
  #terminated(error: ServerError): void {
    if (this.#state !== "open" && this.#state !== "connecting") return;
    if (this.#random.chance(0.5)) {
      const [query] = this.#unanswered;
      if (query) this.#settle(() => query.reject(error), query);
      this.#toClient.send(() => this.lose(0));
    } else this.lose(this.#random.between(0, 3_000));
  }

  /**
   * Answers no longer arrive. Requests on the way either all arrive, perhaps when nobody expects them any more, or are
   * all lost. The server notices the loss later.
   */
  #breakOff(): void {
    this.#toClient.isBroken = true;
    this.#toServer.isBroken ||= this.#random.chance(0.5);
    this.#toServer.delayMs = this.#random.pick([0, this.#random.between(0, 6_000)]);
    const close = () => this.#session?.close();
    if (this.#toServer.isBroken) this.#database.time.after(this.#random.between(0, 2_000), close);
    else this.#toServer.send(close);
  }

  #close(code: string): void {
    if (this.#state === "closed" || this.#state === "killed") return;
    this.#state = "closed";
    for (const query of this.#unanswered) query.reject(new ConnectionError(code));
    this.#unanswered.clear();
    this.#onClosed();
    this.#options.onclose();
  }
}
