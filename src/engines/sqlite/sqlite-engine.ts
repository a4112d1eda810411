// The embedded engine: one SQLite file in WAL mode with full syncs. Its table is a log: every change is appended under
// its version, and no row is rewritten. So appending touches the same few pages at the end, whether the store holds a
// hundred items or a million. Obsolete rows are deleted later, a few with each commit (see sweep.ts).

import type { Database } from "bun:sqlite";
import {
  type Batch,
  type Bookmark,
  type Change,
  type Engine,
  type News,
  type PlannedChange,
  StoreError,
  type Version,
  type WholeStore,
} from "../../collection/engine.ts";
import { ChangeTable } from "./change-table.ts";
import { GuardedDatabase } from "./guarded-database.ts";
import { explainSqliteError, isFailedWrite, isSqliteBusy } from "./sqlite-errors.ts";
import { StoreRow } from "./store-row.ts";
import { Survey, Sweep } from "./sweep.ts";

/** How long a commit waits while other processes commit. After that it fails. */
const busyMs = 5_000;
/** How many rows are read at once when the whole store is read. */
const changesAtOnce = 1_000;
/** At most this many rows are deleted on closing. This bounds the time that closing takes. */
const sweptAtCloseMax = 100_000;

export interface SqliteEngineOptions {
  readonly readOnly: boolean;
  /** True if another thread of this process has the store open. */
  readonly isJoined?: boolean;
  readonly onWarning?: (message: string) => void;
}

/**
 * A batch whose plan may come from another thread. Until the plan has arrived, nothing else may be asked of the engine.
 */
interface DecidedLater extends Pick<Batch, "since"> {
  decide(missed: News | undefined): readonly PlannedChange[] | Promise<readonly PlannedChange[]>;
}

export class SqliteEngine implements Engine {
  readonly #path: string;
  readonly #readOnly: boolean;
  readonly #files: GuardedDatabase;
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #storeRow: StoreRow;
  readonly #table: ChangeTable;
  readonly #sweep = new Sweep();
  #dataVersion: number;
  /** The newest state of the store that this process has read or written. */
  #lastKnown: Bookmark = { epoch: "", version: 0 };
  /** True if the last commit has failed. A health check then tests whether the store can be written again. */
  #lastFailed = false;
  /** True if a commit has failed but may be complete in the write-ahead log. SQLite would replay it after a crash. */
  #hasFailedCommit = false;
  #erasing: Promise<void> | undefined;
  #syncMs = 0;

  /**
   * Opens the store, or creates it. A read-only engine never commits and leaves an existing file as it is. `onWarning`
   * gets messages for the operator.
   */
  constructor(path: string, { readOnly, isJoined = false, onWarning = () => {} }: SqliteEngineOptions) {
    this.#path = path;
    this.#readOnly = readOnly;
    this.#files = new GuardedDatabase(path, { readOnly, isJoined, onWarning });
    this.#database = this.#files.database;
    this.#statements = prepare(this.#database);
    this.#storeRow = new StoreRow(this.#database, path);
    this.#table = new ChangeTable(this.#database, path);
    this.#dataVersion = this.#readDataVersion();
  }

  hasNews(): false | Promise<boolean> {
    return this.newState() === undefined ? false : Promise.resolve(true);
  }

  /** The state of the store, if it is not the one that this process knows. Otherwise undefined. */
  newState(): Bookmark | undefined {
    // If this engine no longer uses the files, it does not matter what other processes do to them.
    if (this.#files.isRetired) return undefined;
    return this.#attempt(() => {
      const dataVersion = this.#readDataVersion();
      if (dataVersion === this.#dataVersion) return undefined;
      const state = { epoch: this.#storeRow.read().epoch, version: this.#table.version() };
      if (state.epoch !== this.#lastKnown.epoch || state.version !== this.#lastKnown.version) return state;
      this.#dataVersion = dataVersion;
      return undefined;
    });
  }

  /**
   * Call this after another engine of this process has committed. `state` is the store's state after that commit. From
   * then on, `newState` does not report the changes up to `state` as news, so the caller must have them already.
   */
  noteCommit(state: Bookmark): void {
    if (state.epoch === this.#lastKnown.epoch && state.version <= this.#lastKnown.version) return;
    this.#lastKnown = state;
    this.#sweep.missed();
  }

  async pull(since: Bookmark): Promise<News | undefined> {
    const { epoch, version } = this.#lastKnown;
    // If the files were replaced, they are not read any more. But a caller that already has everything may go on
    // reading from memory, so it gets an empty answer.
    if (this.#files.isRetired && since.epoch === epoch && since.version === version) {
      return { epoch, version, changes: [] };
    }
    this.#files.check();
    if (this.#hasFailedCommit) await this.#eraseFailedCommit();
    return this.#attempt(() => this.#database.transaction(() => this.#news(since))());
  }

  async load(): Promise<WholeStore> {
    this.#files.check();
    if (this.#hasFailedCommit) await this.#eraseFailedCommit();
    return this.#attempt(() =>
      this.#database.transaction(() => {
        const { epoch, prunedThrough } = this.#storeRow.read();
        this.#dataVersion = this.#readDataVersion();
        this.#lastKnown = { epoch, version: this.#table.version() };
        return { ...this.#lastKnown, prunedThrough, pages: this.#pages() };
      })(),
    );
  }

  /** Throws if another program has replaced, removed or changed the files. */
  checkFiles(): void {
    this.#files.check();
  }

  /** True if another program has replaced, removed or changed the files. This engine then no longer touches them. */
  get isRetired(): boolean {
    return this.#files.isRetired;
  }

  /**
   * Makes this engine stop using the files. Call this if another engine of this process has stopped; `reason` says why.
   */
  retireToo(reason: string): void {
    this.#files.retireToo(reason);
  }

  async commit(batch: Batch): Promise<boolean> {
    const isStored = await this.commitOnly(batch);
    this.checkpoint();
    return isStored;
  }

  /**
   * Commits, but does not copy the log into the store. The caller must call `checkpoint` to do that, at a time when it
   * delays nobody.
   */
  async commitOnly(batch: Batch | DecidedLater): Promise<boolean> {
    try {
      const isStored = await this.#commit(batch);
      this.#lastFailed = false;
      return isStored;
    } catch (error) {
      this.#lastFailed = true;
      throw error;
    }
  }

  /** Copies the log into the store, if it has grown enough. */
  checkpoint(): void {
    this.#files.checkpoint();
  }

  /** True if the log is so long that `checkpoint` must not be put off any more. */
  isLogLong(): boolean {
    return this.#files.isLogLong();
  }

  async #commit(batch: Batch | DecidedLater): Promise<boolean> {
    if (this.#files.isRetired) this.#files.check();
    if (this.#hasFailedCommit) await this.#eraseFailedCommit();
    await this.#begin();
    let changes: readonly PlannedChange[];
    let sweptCount: number;
    try {
      // Check only now. It may have taken long to get the lock, and the files may have been replaced meanwhile.
      this.#files.check();
      const missed = this.#missed(batch.since);
      if (missed === "behind") {
        this.#rollBack();
        return false;
      }
      if (this.#sweep.wantsSurvey) this.#survey();
      changes = await batch.decide(missed);
      sweptCount = this.#store(changes);
      this.#runCommit();
    } catch (error) {
      throw await this.#abort(error);
    }
    this.#files.checkCommit();
    this.#lastKnown = { ...this.#lastKnown, version: changes.at(-1)?.version ?? this.#lastKnown.version };
    this.#sweep.committed(changes, sweptCount);
    return true;
  }

  async checkReady(): Promise<void> {
    if (this.#readOnly) this.#files.checkInPlace();
    else this.#files.check();
    if (this.#lastFailed) await this.#eraseFailedCommit();
  }

  // While another process is committing, this tries again every few milliseconds. Requests are answered in between.
  // SQLite itself waits for 5 ms only (`busy_timeout`), because its wait blocks all requests.
  async #begin(): Promise<void> {
    const giveUpAt = performance.now() + busyMs;
    for (;;) {
      try {
        this.#statements.begin.run();
        return;
      } catch (error) {
        if (!isSqliteBusy(error) || performance.now() > giveUpAt) throw explainSqliteError(error, this.#path);
      }
      await Bun.sleep(2);
    }
  }

  /**
   * Deletes up to `sweptAtCloseMax` of the rows that may be deleted, and then closes the store. So the file rarely
   * keeps the content of deleted items, and the next start reads less. A read-only engine deletes nothing. If this
   * process has another engine on the same file, `closeOther` must close it.
   */
  async close(closeOther: () => Promise<void> = async () => {}): Promise<void> {
    const rest = this.#readOnly ? [] : this.#sweep.rest().slice(0, sweptAtCloseMax);
    try {
      this.#checkAtClose();
    } catch (error) {
      await closeOther();
      throw error;
    }
    try {
      if (this.#hasFailedCommit) await this.#eraseFailedCommit();
      if (rest.length > 0) await this.#sweepNow(rest);
    } finally {
      await this.#files.close(closeOther);
    }
  }

  /**
   * Throws if another program has replaced, removed or changed the files. The error is `undecided`, because the last
   * commits may then be missing from the file.
   */
  #checkAtClose(): void {
    try {
      this.#files.check();
    } catch (error) {
      throw error instanceof StoreError ? new StoreError(error.message, { undecided: true }) : error;
    }
  }

  /**
   * Deletes rows in a transaction of its own. Waits for the lock, because other processes may be closing at the same
   * time.
   */
  async #sweepNow(versions: readonly Version[]): Promise<void> {
    await this.#begin();
    try {
      this.#remove(versions);
      this.#runCommit();
    } catch (error) {
      throw await this.#abort(error);
    }
  }

  /**
   * Writes the changes, and deletes some of the rows that `#sweep` has chosen for deletion. Returns how many it
   * deleted.
   */
  #store(changes: readonly PlannedChange[]): number {
    this.#table.append(changes);
    const swept = this.#sweep.next(changes.length);
    if (swept.length > 0) this.#remove(swept);
    return swept.length;
  }

  #remove(versions: readonly Version[]): void {
    const store = this.#storeRow.read();
    if (this.#sweep.prunedThrough > store.prunedThrough) {
      this.#storeRow.write({ ...store, prunedThrough: this.#sweep.prunedThrough });
    }
    this.#table.remove(versions);
  }

  /** How long SQLite took to write and sync the last successful commit, in milliseconds. */
  get syncMs(): number {
    return this.#syncMs;
  }

  #runCommit(): void {
    const startedAt = performance.now();
    try {
      this.#statements.commit.run();
      this.#syncMs = performance.now() - startedAt;
    } catch (error) {
      // The record that completes a commit is written last. If a write failed, the commit in the log is incomplete, and
      // SQLite ignores it. After any other error, such as a failed sync, the log may contain the complete commit.
      this.#hasFailedCommit = !isFailedWrite(error);
      throw error;
    }
  }

  /** Ends a transaction after an error, and returns the error to throw. */
  async #abort(error: unknown): Promise<unknown> {
    try {
      this.#rollBack();
      if (this.#hasFailedCommit) await this.#eraseFailedCommit();
    } catch (failure) {
      if (!this.#hasFailedCommit) throw failure;
      return explainSqliteError(error, this.#path, { undecided: true });
    }
    return explainSqliteError(error, this.#path);
  }

  /**
   * Makes sure that SQLite never replays the failed commit. Callers that arrive at the same time share one attempt,
   * because a connection can have only one transaction at a time.
   */
  #eraseFailedCommit(): Promise<void> {
    this.#erasing ??= this.#overwriteFailedCommit().finally(() => {
      this.#erasing = undefined;
    });
    return this.#erasing;
  }

  // SQLite writes a commit to the place in the log where the last successful commit ends. So this new commit overwrites
  // the failed one. If the failed commit was longer, SQLite ignores the rest of it, because the checksums no longer
  // fit. If another process commits first, that commit overwrites the failed one too.
  async #overwriteFailedCommit(): Promise<void> {
    await this.#begin();
    try {
      // Add 1 and take it away again. The row stays as it is, but SQLite has to write the row's page. For an update
      // without effect, it would write nothing.
      this.#statements.addToPrunedThrough.run(1);
      this.#statements.addToPrunedThrough.run(-1);
      this.#statements.commit.run();
      this.#hasFailedCommit = false;
      this.#lastFailed = false;
    } catch (error) {
      this.#rollBack();
      throw explainSqliteError(error, this.#path);
    }
  }

  #rollBack(): void {
    // After some errors, such as a full disk, SQLite has already rolled back.
    if (!this.#files.isRetired && this.#database.inTransaction) this.#attempt(() => this.#statements.rollback.run());
  }

  #missed(since: Bookmark): News | undefined | "behind" {
    const { epoch, version } = this.#lastKnown;
    const knowsAll = epoch === since.epoch && version === since.version;
    return knowsAll && this.#readDataVersion() === this.#dataVersion ? undefined : (this.#news(since) ?? "behind");
  }

  #news(since: Bookmark): News | undefined {
    // The data version is read before the changes. If another process commits in between, its changes are reported as
    // news a second time. That does no harm.
    this.#dataVersion = this.#readDataVersion();
    const { epoch, prunedThrough } = this.#storeRow.read();
    const version = this.#table.version();
    const whole = since.epoch !== epoch || since.version < prunedThrough || since.version > version;
    // If there are changes newer than the last one known here, another process has stored them. Then tell `#sweep` that
    // it no longer knows all rows.
    if (version > this.#lastKnown.version) this.#sweep.missed();
    this.#lastKnown = { epoch, version };
    return whole ? undefined : { epoch, version, changes: this.#table.readAfter(since.version, -1) };
  }

  // Yields the latest change of each item.
  async *#pages(): AsyncGenerator<Change[]> {
    const rows = [...this.#everyChange()];
    const latest = new Map(rows.map((row) => [row.position, row]));
    yield rows.filter((row) => latest.get(row.position) === row);
  }

  // Reads a page of rows at a time. Reading all rows at once would take more memory than the items themselves; reading
  // one by one would take twice the time. The transaction hides changes of other processes until the last row is read.
  *#everyChange(): Generator<Change> {
    const survey = new Survey();
    const begins = !this.#database.inTransaction;
    try {
      if (begins) this.#statements.beginRead.run();
      for (let last: Version | undefined = 0; last !== undefined; ) {
        const changes: Change[] = this.#table.readAfter(last, changesAtOnce);
        for (const change of changes) {
          survey.note(change);
          yield change;
        }
        last = changes.at(-1)?.version;
      }
    } catch (error) {
      throw explainSqliteError(error, this.#path);
    } finally {
      if (begins) this.#rollBack();
    }
    this.#sweep.begin(survey);
  }

  /** Reads the whole table to find out which rows can be deleted. */
  #survey(): void {
    for (const _ of this.#everyChange());
  }

  #readDataVersion(): number {
    return this.#statements.dataVersion.get()?.data_version ?? 0;
  }

  #attempt<Result>(action: () => Result): Result {
    try {
      return action();
    } catch (error) {
      throw explainSqliteError(error, this.#path);
    }
  }
}

function prepare(database: Database) {
  return {
    begin: database.query("BEGIN IMMEDIATE"),
    beginRead: database.query("BEGIN"),
    commit: database.query("COMMIT"),
    rollback: database.query("ROLLBACK"),
    // A number that changes when another connection commits, but not when this one does.
    dataVersion: database.query<{ data_version: number }, []>("PRAGMA data_version"),
    addToPrunedThrough: database.query<never, [number]>("UPDATE store SET pruned_through = pruned_through + ?"),
  };
}
