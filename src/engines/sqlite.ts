// The embedded engine: one SQLite file in WAL mode with full syncs. Its table is a log: every change
// is appended under its version and no row is rewritten, so a commit touches the same few pages at
// the end whether the store holds a hundred items or a million. Rows that newer ones have made
// obsolete are swept out later, a few with each commit.

import type { Database } from "bun:sqlite";
import {
  type Bookmark,
  type Change,
  type Engine,
  type News,
  type PlannedChange,
  StoreError,
  tombstonesMax,
  type Version,
} from "../engine.ts";
import { openDatabase, storeErrorFrom } from "./sqlite-file.ts";

/** A sweep waits for this many obsolete rows, and for half the table: it then finds several on each page it touches. */
const obsoleteMin = 10_000;
/** Rows swept for each change committed: more than one, so that a sweep ends however busy the writers are. */
const sweptPerChange = 4;
/** Bounds the time a stop takes. */
const sweptAtCloseMax = 100_000;
/** Tombstones are pruned this many at a time. */
const tombstonesSlack = 1_000;

interface StoreRow {
  readonly epoch: string;
  readonly prunedThrough: Version;
  readonly version: Version;
}

export class SqliteEngine implements Engine {
  readonly #path: string;
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepare>;
  #dataVersion: number;
  #rowCount = 0;
  /** Versions of rows that newer rows have replaced, oldest first while nobody sweeps. */
  #obsolete: Version[] = [];
  /** The obsolete rows being swept, newest first, so that the oldest can be taken off the end. */
  #sweeping: Version[] = [];
  #tombstones: Version[] = [];

  /** Opens the store, or makes it. A read-only engine leaves the file as it is and never commits. */
  constructor(path: string, { readOnly }: { readOnly: boolean }) {
    this.#path = path;
    this.#database = openDatabase(path, readOnly);
    this.#statements = prepare(this.#database);
    this.#dataVersion = this.#readDataVersion();
  }

  hasNews(): boolean {
    return this.#attempt(() => this.#readDataVersion() !== this.#dataVersion);
  }

  async pull(since?: Bookmark): Promise<News> {
    return this.#attempt(() => this.#database.transaction(() => this.#news(since))());
  }

  async commit(since: Bookmark, plan: (missed: News | undefined) => readonly PlannedChange[]): Promise<void> {
    const { begin, commit } = this.#statements;
    this.#attempt(() => begin.run());
    let changes: readonly PlannedChange[];
    let removed: Removed;
    try {
      changes = plan(this.#missed(since));
      removed = this.#store(changes);
      commit.run();
    } catch (error) {
      // SQLite has rolled back by itself after some errors, a full disk among them.
      if (this.#database.inTransaction) this.#statements.rollback.run();
      throw storeErrorFrom(error, this.#path);
    }
    this.#account(changes, removed);
  }

  /** A store at rest holds nothing obsolete: what was deleted is gone, and the next start reads less. */
  async close(): Promise<void> {
    try {
      if (this.#obsolete.length + this.#sweeping.length > 0) {
        this.#attempt(() => this.#database.transaction(() => this.#sweepAll()).immediate());
      }
    } finally {
      this.#database.close();
    }
  }

  #sweepAll(): void {
    const obsolete = [...this.#obsolete, ...this.#sweeping].sort((a, b) => a - b);
    for (const version of obsolete.slice(0, sweptAtCloseMax)) this.#statements.remove.run(version);
  }

  #store(changes: readonly PlannedChange[]): Removed {
    const { insert, remove, setPrunedThrough } = this.#statements;
    for (const { version, position, id, json } of changes) insert.run(version, position, id, json);
    const swept = this.#sweeping.slice(-Math.max(1, changes.length * sweptPerChange));
    for (const version of swept) remove.run(version);
    const excess = this.#tombstones.length - tombstonesMax;
    const pruned = excess < tombstonesSlack ? [] : this.#tombstones.slice(0, excess);
    for (const version of pruned) remove.run(version);
    const prunedThrough = pruned.at(-1);
    if (prunedThrough !== undefined) setPrunedThrough.run(prunedThrough);
    return { sweptCount: swept.length, prunedCount: pruned.length };
  }

  /** Notes what a commit, now durable, has left behind. */
  #account(changes: readonly PlannedChange[], { sweptCount, prunedCount }: Removed): void {
    this.#sweeping.length -= sweptCount;
    if (prunedCount > 0) this.#tombstones.splice(0, prunedCount);
    for (const { version, json, replaces } of changes) {
      if (json === null) this.#tombstones.push(version);
      if (replaces !== undefined) this.#obsolete.push(replaces);
    }
    this.#rowCount += changes.length - sweptCount - prunedCount;
    if (this.#sweeping.length === 0 && this.#obsolete.length >= Math.max(obsoleteMin, this.#rowCount / 2)) {
      this.#sweeping = this.#obsolete.sort((a, b) => b - a);
      this.#obsolete = [];
    }
  }

  #missed(since: Bookmark): News | undefined {
    const { epoch, version } = this.#readStore();
    return epoch === since.epoch && version === since.version ? undefined : this.#news(since);
  }

  #news(since?: Bookmark): News {
    // Read first: a commit that comes after this is news again, at worst twice.
    this.#dataVersion = this.#readDataVersion();
    const { epoch, prunedThrough, version } = this.#readStore();
    const whole = since?.epoch !== epoch || since.version < prunedThrough || since.version > version;
    const changes = this.#latest(whole ? 0 : since.version, whole);
    return { epoch, version, whole, changes: whole ? changes.filter((change) => change.json !== null) : changes };
  }

  #readStore(): StoreRow {
    const store = this.#statements.store.get();
    if (!store) throw new StoreError(`${this.#path}: the store has lost its epoch; restore it from a backup`);
    return store;
  }

  /** The newest row of each item, in order of version, and on the way what is obsolete if all rows are read. */
  #latest(since: Version, all: boolean): Change[] {
    const latest = new Map<Version, Change>();
    const obsolete: Version[] = [];
    for (const change of this.#statements.changesSince.iterate(since)) {
      const older = change.version === change.position ? undefined : latest.get(change.position);
      if (older) {
        obsolete.push(older.version);
        latest.delete(change.position);
      }
      latest.set(change.position, change);
    }
    const changes = [...latest.values()];
    const tombstones = changes.filter((change) => change.json === null).map((change) => change.version);
    if (all) {
      this.#rowCount = changes.length + obsolete.length;
      this.#obsolete = obsolete;
      this.#sweeping = [];
      this.#tombstones = tombstones;
    } else {
      this.#tombstones.push(...tombstones);
    }
    return changes;
  }

  #readDataVersion(): number {
    return this.#statements.dataVersion.get()?.data_version ?? 0;
  }

  #attempt<Result>(action: () => Result): Result {
    try {
      return action();
    } catch (error) {
      throw storeErrorFrom(error, this.#path);
    }
  }
}

interface Removed {
  readonly sweptCount: number;
  readonly prunedCount: number;
}

function prepare(database: Database) {
  return {
    begin: database.query("BEGIN IMMEDIATE"),
    commit: database.query("COMMIT"),
    rollback: database.query("ROLLBACK"),
    // Changes by other connections only; our own commits leave it as it is.
    dataVersion: database.query<{ data_version: number }, []>("PRAGMA data_version"),
    store: database.query<StoreRow, []>(
      "SELECT epoch, pruned_through AS prunedThrough, (SELECT coalesce(max(version), 0) FROM change) AS version FROM store",
    ),
    changesSince: database.query<Change, [Version]>(
      "SELECT version, position, id, json FROM change WHERE version > ? ORDER BY version",
    ),
    insert: database.query<never, [Version, Version, string, string | null]>(
      "INSERT INTO change (version, position, id, json) VALUES (?, ?, ?, ?)",
    ),
    remove: database.query<never, [Version]>("DELETE FROM change WHERE version = ?"),
    setPrunedThrough: database.query<never, [Version]>("UPDATE store SET pruned_through = ?"),
  };
}
