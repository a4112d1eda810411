// A PostgreSQL server in memory: what each statement of the engine means, with transactions, failing statements and
// failovers. Sessions can lock the clock, which is the row with the store's version. The server recognises statements
// by their text, and fails if it does not know a statement.

import { listKey, partsOf } from "../../src/collection/list-key.ts";
import { schemaVersion } from "../../src/engines/postgres/postgres-tables.ts";
import type { Faults } from "./faults.ts";
import type { Ledger } from "./ledger.ts";
import { ServerError } from "./server-error.ts";
import { batchAt, commitBatch, emptyState, type ListRow, lineOf, type StoreState } from "./store-state.ts";
import type { VirtualTime } from "./virtual-time.ts";

export interface Statement {
  /** The SQL, with a question mark for each parameter and single spaces. */
  readonly text: string;
  readonly parameters: readonly unknown[];
}

export interface Result {
  readonly rows: readonly object[];
  readonly command: string;
  /** True if the server warns that it stopped waiting for its standbys to confirm a commit. */
  readonly isUnreplicated?: boolean;
}

type Reply = (result: Result | ServerError) => void;

interface Transaction {
  /** The state with the transaction's own changes. Undefined until the transaction has the lock. */
  draft: StoreState | undefined;
  hasFailed: boolean;
}

const lockTimeoutMs = 5_000;
const idleInTransactionMs = 10_000;

export class SimulatedDatabase {
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly ledger: Ledger;
  readonly #sessions = new Set<ServerSession>();
  /** Called before each statement. If this call ends the statement's session, the statement is lost. */
  beforeStatement: (text: string) => void = () => {};
  #current: StoreState;
  #lockedBy: ServerSession | undefined;
  readonly #waiting: { readonly session: ServerSession; readonly go: () => void }[] = [];

  constructor(time: VirtualTime, faults: Faults, ledger: Ledger) {
    this.time = time;
    this.faults = faults;
    this.ledger = ledger;
    this.#current = emptyState("0000000000000000");
    ledger.becomes(this.#current);
  }

  get current(): StoreState {
    return this.#current;
  }

  connect(onTerminated: (error: ServerError) => void): ServerSession {
    const session = new ServerSession(this, onTerminated);
    this.#sessions.add(session);
    return session;
  }

  /** A standby takes over. It has only the states up to `state`. Every session ends. */
  failOver(state: StoreState): void {
    this.#waiting.splice(0);
    for (const session of [...this.#sessions]) session.terminate(new ServerError("57P01", "FATAL"));
    this.#current = state;
    this.ledger.isCutTo(state);
  }

  store(state: StoreState): void {
    if (state === this.#current) return;
    this.#current = state;
    this.ledger.becomes(state);
  }

  /** Calls `go` once the session has the lock, or `fail` if that takes too long. */
  lock(session: ServerSession, go: () => void, fail: () => void): void {
    if (this.#lockedBy === undefined || this.#lockedBy === session) {
      this.#lockedBy = session;
      go();
      return;
    }
    const entry = { session, go };
    this.#waiting.push(entry);
    this.time.after(lockTimeoutMs, () => {
      const index = this.#waiting.indexOf(entry);
      if (index < 0) return;
      this.#waiting.splice(index, 1);
      fail();
    });
  }

  unlock(session: ServerSession): void {
    if (this.#lockedBy !== session) return;
    const next = this.#waiting.shift();
    this.#lockedBy = next?.session;
    next?.go();
  }

  forget(session: ServerSession): void {
    this.#sessions.delete(session);
    const left = this.#waiting.filter((entry) => entry.session !== session);
    this.#waiting.splice(0, this.#waiting.length, ...left);
    this.unlock(session);
  }
}

export class ServerSession {
  readonly #database: SimulatedDatabase;
  readonly #onTerminated: (error: ServerError) => void;
  readonly #queue: { readonly statement: Statement; readonly reply: Reply }[] = [];
  #isBusy = false;
  #isClosed = false;
  #transaction: Transaction | undefined;
  #stopIdling = () => {};

  constructor(database: SimulatedDatabase, onTerminated: (error: ServerError) => void) {
    this.#database = database;
    this.#onTerminated = onTerminated;
  }

  /** Executes the statement after all earlier ones. */
  receive(statement: Statement, reply: Reply): void {
    if (this.#isClosed) return;
    this.#queue.push({ statement, reply });
    this.#next();
  }

  /** The client has left: its open transaction is rolled back. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopIdling();
    this.#transaction = undefined;
    this.#database.forget(this);
  }

  terminate(error: ServerError): void {
    if (this.#isClosed) return;
    this.close();
    this.#onTerminated(error);
  }

  #next(): void {
    const next = this.#isBusy || this.#isClosed ? undefined : this.#queue.shift();
    if (!next) return;
    this.#isBusy = true;
    this.#stopIdling();
    this.#execute(next.statement, (result) => {
      if (this.#isClosed) return;
      this.#isBusy = false;
      if (result instanceof ServerError && this.#transaction) this.#transaction.hasFailed = true;
      next.reply(result);
      if (this.#transaction && this.#queue.length === 0) {
        const error = new ServerError("25P03", "FATAL");
        this.#stopIdling = this.#database.time.after(idleInTransactionMs, () => this.terminate(error));
      }
      this.#next();
    });
  }

  #execute({ text, parameters }: Statement, reply: Reply): void {
    this.#database.beforeStatement(text);
    if (this.#isClosed) return;
    const change = changes.get(text);
    const result = this.#failure(text) ?? this.#begin(text) ?? this.#query(text, parameters);
    if (text === "commit") reply(this.#commit());
    else if (result) reply(result);
    else if (change) this.#change((state) => change(state, parameters), reply);
    else throw new Error(`The simulated database does not know this statement; teach it: ${text}`);
  }

  #failure(text: string): ServerError | undefined {
    if (text === "commit") return undefined;
    if (this.#transaction?.hasFailed) return new ServerError("25P02");
    const code = this.#database.faults.statementFails();
    return code === undefined ? undefined : new ServerError(code);
  }

  #begin(text: string): Result | undefined {
    if (text !== "begin") return undefined;
    this.#transaction = { draft: undefined, hasFailed: false };
    return { rows: [], command: "BEGIN" };
  }

  #query(text: string, parameters: readonly unknown[]): Result | undefined {
    const query = queries.get(text);
    const state = this.#transaction?.draft ?? this.#database.current;
    return query && { rows: query(state, parameters), command: "SELECT" };
  }

  /** Executes a statement that needs the lock on the clock, the row with the store's version. */
  #change(change: (state: StoreState) => Changed, reply: Reply): void {
    const database = this.#database;
    const go = () => {
      const { state, rows = [] } = change(this.#transaction?.draft ?? database.current);
      if (hasDuplicates(state)) {
        if (!this.#transaction) database.unlock(this);
        reply(new ServerError("23505"));
      } else if (this.#transaction) {
        this.#transaction.draft = state;
        reply({ rows, command: "UPDATE" });
      } else {
        const isChanged = state !== database.current;
        database.store(state);
        database.unlock(this);
        reply({ rows, command: "UPDATE", isUnreplicated: isChanged && database.faults.standbyIsSlow() });
      }
    };
    database.lock(this, go, () => reply(new ServerError("55P03")));
  }

  #commit(): Result {
    const transaction = this.#transaction;
    this.#transaction = undefined;
    const isCommitted = transaction !== undefined && !transaction.hasFailed;
    const draft = isCommitted ? transaction.draft : undefined;
    if (draft) this.#database.store(draft);
    this.#database.unlock(this);
    const isUnreplicated = draft !== undefined && this.#database.faults.standbyIsSlow();
    return { rows: [], command: isCommitted || !transaction ? "COMMIT" : "ROLLBACK", isUnreplicated };
  }
}

/** True if two rows have the same version of the store, or of their list. Both have unique indexes. */
function hasDuplicates({ rows }: StoreState): boolean {
  const keys = rows.flatMap(({ clock, list, version }) => [`${clock}`, `${list} ${version}`]);
  return new Set(keys).size < keys.length;
}

/** What the function `moment` returns. */
function moment(state: StoreState, versions: unknown): string {
  const found = String(versions)
    .split(",")
    .flatMap((version) => {
      const batch = batchAt(state, Number(version));
      return batch === undefined ? [] : [`${version} ${batch}`];
    });
  const { epoch, batch, version, counts, prunedThrough } = state;
  return [epoch, batch, "f", found.join(","), version, ...counts, prunedThrough].join("\t");
}

function findList({ lists }: StoreState, owner: unknown, name: unknown): ListRow | undefined {
  return lists.find(({ list }) => list === listKey(String(name), String(owner)));
}

type Query = (state: StoreState, parameters: readonly unknown[]) => readonly object[];

const queries: ReadonlyMap<string, Query> = new Map<string, Query>([
  ["select current_setting('server_encoding') as encoding", () => [{ encoding: "UTF8" }]],
  [
    "select exists (select from pg_tables where schemaname = 'todoitems' and tablename = 'store') as exists",
    () => [{ exists: true }],
  ],
  ["select schema_version as version from todoitems.store", () => [{ version: schemaVersion }]],
  [
    "select epoch, version as clock, batch, pg_is_in_recovery() as standby from todoitems.store",
    ({ epoch, version, batch }) => [{ epoch, clock: version, batch, standby: false }],
  ],
  [
    "select from todoitems.history where version = ? and batch = ?",
    (state, [version, batch]) => (batchAt(state, Number(version)) === batch ? [{}] : []),
  ],
  [
    String.raw`(select todoitems.moment(?) as line) union all ( select concat_ws(E'\t', (select concat_ws(E'\t', name, owner) from todoitems.list where key = list), number, position, id, json) from todoitems.item where version > ? and (select epoch = ? and pruned_through <= ? from todoitems.store) order by version )`,
    (state, [known, since, epoch]) => {
      const isServed = state.epoch === epoch && state.prunedThrough <= Number(since);
      const changed = isServed ? state.rows.filter((row) => row.clock > Number(since)) : [];
      const lines = changed.map((row) => {
        const { name, owner } = partsOf(state.lists.find(({ key }) => key === row.list)?.list ?? "lost");
        return { line: [name, owner, lineOf(row)].join("\t") };
      });
      return [{ line: moment(state, known) }, ...lines];
    },
  ],
  [
    String.raw`( select concat_ws(E'\t', todoitems.moment(?), pruned) as line from todoitems.store left join todoitems.list on owner = ? and name = ? ) union all ( select concat_ws(E'\t', number, position, id, json) from ( select number, position, id, json, sum(octet_length(json)) over (order by number rows unbounded preceding) from todoitems.item where list = (select key from todoitems.list where owner = ? and name = ?) and number > ? order by number limit ? ) as page where coalesce(sum, 0) - coalesce(octet_length(json), 0) < ? order by number )`,
    (state, [known, owner, name, , , after, limit, bytesMax]) => {
      const list = findList(state, owner, name);
      const line = [moment(state, known), ...(list ? [list.pruned] : [])].join("\t");
      return [{ line }, ...(list ? page(state, list.key, Number(after), limit, Number(bytesMax)) : [])];
    },
  ],
  [
    "(select todoitems.moment(?) as line) union all (select name from todoitems.list where owner = ? and has_items)",
    (state, [known, owner]) => {
      const names = state.lists
        .filter(({ list, hasItems }) => hasItems && partsOf(list).owner === owner)
        .map(({ list }) => ({ line: partsOf(list).name }));
      return [{ line: moment(state, known) }, ...names];
    },
  ],
]);

function page({ rows }: StoreState, key: number, after: number, limit: unknown, bytesMax: number): readonly object[] {
  let bytesBefore = 0;
  const fits = ({ json }: { readonly json: string | null }) => {
    const itFits = bytesBefore < bytesMax;
    bytesBefore += Buffer.byteLength(json ?? "");
    return itFits;
  };
  return rows
    .filter(({ list, version }) => list === key && version > after)
    .slice(0, Number(limit))
    .filter(fits)
    .map((row) => ({ line: lineOf(row) }));
}

interface Changed {
  readonly state: StoreState;
  readonly rows?: readonly object[];
}

type StateChange = (state: StoreState, parameters: readonly unknown[]) => Changed;

/** The statements that need the lock on the clock, the row with the store's version. */
const changes: ReadonlyMap<string, StateChange> = new Map<string, StateChange>([
  ["select from todoitems.store for update", (state) => ({ state })],
  // This makes another object, so that the transaction counts as a write.
  ["update todoitems.store set batch = batch", (state) => ({ state: { ...state } })],
  [
    "update todoitems.store set epoch = ? where epoch = ?",
    (state, [epoch, old]) => ({ state: state.epoch === old ? { ...state, epoch: String(epoch) } : state }),
  ],
  [
    "insert into todoitems.voided (batch, version) values (?, ?) on conflict do nothing",
    (state, [batch]) => ({ state: { ...state, voided: new Set([...state.voided, String(batch)]) } }),
  ],
  [
    "select todoitems.commit_batch(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) as stored",
    (state, [sinceEpoch, sinceVersion, sinceBatch, newVersion, newBatch, items, bytes, mark, listLines, lines]) => {
      const stored = commitBatch(state, {
        sinceEpoch: String(sinceEpoch),
        sinceVersion: Number(sinceVersion),
        sinceBatch: String(sinceBatch),
        newVersion: Number(newVersion),
        newBatch: String(newBatch),
        counts: [Number(items), Number(bytes), Number(mark)],
        listLines: String(listLines),
        lines: String(lines),
      });
      return { state: stored ?? state, rows: [{ stored: stored !== undefined }] };
    },
  ],
]);
