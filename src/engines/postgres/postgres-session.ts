// One connection to the primary: the one host in the address that takes writes. A lost connection is replaced. We give
// the client library one host at a time. If it had several, it would mistake a standby for the primary. And while there
// is no primary, it would try to connect forever without a pause.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import postgres from "postgres";
import { StoreError } from "../../collection/engine.ts";
import { describeHost, type PostgresAddress, type PostgresHost } from "./postgres-address.ts";
import { connectSeconds, explainPostgresError, isServerError } from "./postgres-failures.ts";

export type Sql = postgres.Sql<{ bigint: number }>;

type Query<Result> = (sql: Sql, onFirst: () => void) => Promise<Result>;

/**
 * If no host was usable, this is the pause before the next attempt to connect. It doubles with each failure, up to
 * `longest`.
 */
const pauseMs = { first: 50, longest: 1_000 };

/** How long the server may take. */
export const timeoutsMs = {
  /**
   * For the query that every read waits for, including the time to connect if necessary. There are two attempts, and
   * each may take this long.
   */
  question: 1_000,
  /** For any other query that normally takes milliseconds. */
  answer: 5_000,
  /** For a commit. If its answer is lost, we try for about this long to find out whether it happened. */
  commit: 10_000,
  /** For reading the whole store. */
  load: 300_000,
} as const;

// The reasons for most of these settings:
//
// - enable_seqscan: every statement has an index to use. But without statistics, as for a table that was empty a minute
//   ago, the planner would read the whole table.
// - jit: with enable_seqscan off, the planner takes our statements for expensive ones. So a server with just-in-time
//   compilation, as in Debian's packages, would compile them for every commit. That took 40 times as long as the commit.
// - plan_cache_mode: by default, the server may plan a statement again each time that it runs. Planning takes longer
//   than running the statement, and always leads to the same plan.
// - lock_timeout, idle_in_transaction_session_timeout: every commit locks the clock, a single row. No instance waits
//   forever for this lock, and an instance that hangs while it holds the lock loses it.
// - synchronous_commit: an answered commit must be durable, even if that is not the database's default.
// - default_transaction_isolation: what waits for a lock must then see what was committed meanwhile, such as the voiding
//   of its batch. At another level, it sees the state from before it waited.
const prepareSession = `
  SET enable_seqscan = off;
  SET jit = off;
  SET plan_cache_mode = force_generic_plan;
  SET max_parallel_workers_per_gather = 0;
  SET lock_timeout = '5s';
  SET idle_in_transaction_session_timeout = '10s';
  SET default_transaction_isolation = 'read committed';
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local');
  SELECT pg_is_in_recovery() AS standby
`;

export class PostgresSession {
  readonly #address: PostgresAddress;
  #sql: Sql | undefined;
  #opening: Promise<Sql> | undefined;
  #hostIndex = 0;
  #failureCount = 0;
  #failure: StoreError | undefined;
  #pauseEndsAt = 0;
  #warningCount = 0;

  constructor(address: PostgresAddress) {
    this.#address = address;
  }

  /**
   * How many warnings with the general code 01000 the server has sent. Such a warning may mean that the server has
   * stopped waiting for a standby.
   */
  get warningCount(): number {
    return this.#warningCount;
  }

  /** Runs queries over the connection. After any error, the connection is dropped, and any open transaction with it. */
  async use<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    const sql = this.#sql ?? (await this.#open());
    try {
      return await work(sql);
    } catch (error) {
      this.#giveUp(sql);
      throw explainPostgresError(error, this.#host);
    }
  }

  /**
   * Like `use`, for a query that changes nothing. If the connection turns out to be dead, or gives no answer in time, the
   * query runs once more. Each attempt has the time for a question to connect and to get an answer, or the first row of
   * it: then `work` calls `onFirst`, and the other rows may take the time for reading the whole store.
   */
  async read<Result>(work: Query<Result>): Promise<Result> {
    try {
      return await this.#attempt(work);
    } catch (error) {
      if (!(error instanceof StoreError) || error === this.#failure || isServerError(error)) throw error;
      return this.#attempt(work);
    }
  }

  async #attempt<Result>(work: Query<Result>): Promise<Result> {
    const endsAtMs = performance.now() + timeoutsMs.question;
    // If connecting takes longer than that, this attempt fails. But the connection is still being opened, and the next
    // attempt waits for it.
    if (!this.#sql) await withTimeout(timeoutsMs.question, this.#open());
    return this.use(async (sql) => {
      const first = Promise.withResolvers<void>();
      const answer = withTimeout(timeoutsMs.load, work(sql, first.resolve));
      await withTimeout(endsAtMs - performance.now(), Promise.race([first.promise, answer]));
      return answer;
    });
  }

  async close(): Promise<void> {
    const sql = this.#sql;
    this.#sql = undefined;
    await sql?.end({ timeout: 1 });
  }

  #open(): Promise<Sql> {
    this.#opening ??= this.#connectToPrimary().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #connectToPrimary(): Promise<Sql> {
    if (this.#failure && performance.now() < this.#pauseEndsAt) throw this.#failure;
    const failures: StoreError[] = [];
    for (let tried = 0; tried < this.#address.hosts.length; tried++) {
      try {
        this.#sql = await this.#connect(this.#host);
        this.#failureCount = 0;
        return this.#sql;
      } catch (error) {
        const failure = explainPostgresError(error, this.#host);
        if (!(failure instanceof StoreError)) throw error;
        failures.push(failure);
        this.#hostIndex = (this.#hostIndex + 1) % this.#address.hosts.length;
      }
    }
    const pause = Math.min(pauseMs.longest, pauseMs.first * 2 ** this.#failureCount++);
    // The pause is partly random, or all instances would come back at the same moment.
    this.#pauseEndsAt = performance.now() + pause * (0.5 + Math.random() / 2);
    this.#failure = new StoreError(failures.map(({ message }) => message).join("; "), { cause: failures[0]?.cause });
    throw this.#failure;
  }

  async #connect(host: PostgresHost): Promise<Sql> {
    const { user, password, database, tls } = this.#address;
    // Host and port are passed as lists, although the library's types do not allow that. If the host were a string, the
    // library would look for a port inside an IPv6 address. Its types lack `socket`, too.
    const socket = socketOpener(host);
    const target: object = { host: [host.host], port: [host.port], socket };
    const sql: Sql = postgres({
      ...target,
      ...(user !== undefined && { user }),
      ...(password !== undefined && { password }),
      ...(database !== undefined && { database }),
      ssl: tls,
      max: 1,
      connect_timeout: connectSeconds,
      max_lifetime: null,
      // No statement sends or returns an array, so the library does not have to look up the types of arrays. If a
      // connection is lost during that lookup, the library leaves a rejected promise that nobody can handle.
      fetch_types: false,
      connection: { application_name: "todoitems" },
      types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
      onnotice: (notice) => {
        // When the server stops waiting for a standby to confirm a commit, it warns with 01000, the general code.
        // Warnings that do not matter here, such as "there is no transaction in progress", have codes of their own.
        if (notice["code"] === "01000") this.#warningCount++;
      },
      // The library must not reconnect by itself: the host may have come back as a standby.
      onclose: () => this.#giveUp(sql),
    });
    try {
      const results = await withTimeout(2 * connectSeconds * 1_000, sql.unsafe(prepareSession));
      const [{ standby } = { standby: false }] = results.at(-1) ?? [];
      if (standby) throw new StoreError(`${describeHost(host)}: the server is a standby, which takes no writes`);
      return sql;
    } catch (error) {
      this.#giveUp(sql);
      throw error;
    }
  }

  #giveUp(sql: Sql): void {
    if (this.#sql === sql) this.#sql = undefined;
    void sql.end({ timeout: 0 });
  }

  get #host(): PostgresHost {
    const host = this.#address.hosts[this.#hostIndex];
    if (!host) throw new Error("a PostgreSQL address without a host");
    return host;
  }
}

/**
 * Returns a function that opens the socket, for the client library, which then encrypts it if the address asks for that.
 * The library calls it again if the server closes the connection before it accepts the user. Then it fails. Otherwise
 * the library would try again without a pause while a load balancer has no server to connect to.
 */
function socketOpener(host: PostgresHost): () => Promise<Socket> {
  let wasOpened = false;
  return async () => {
    if (wasOpened) throw new StoreError(`${describeHost(host)}: the server closed the connection before it answered`);
    wasOpened = true;
    const socket = connect(host.port, host.host);
    try {
      await once(socket, "connect", { signal: AbortSignal.timeout(connectSeconds * 1_000) });
      // The library expects a certificate for this name.
      return Object.assign(socket, { host: host.host });
    } catch (error) {
      socket.destroy();
      throw error;
    }
  };
}

/**
 * Rejects if the work takes longer than `ms`. The server may or may not have done what it was asked to do. The work
 * itself goes on, so the connection must not be used after that.
 */
export async function withTimeout<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  let timer: Timer | undefined;
  const over = new Promise<never>((_, reject) => {
    const message = `PostgreSQL did not answer within ${Number((ms / 1_000).toFixed(1))} s`;
    timer = setTimeout(() => reject(new StoreError(message)), ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
