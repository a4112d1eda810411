// The tables of an open store. Each item has one row, at its place in its list, with a checksum that is verified when
// the row is read. New items are appended to their list, which touches the same few pages, whether the list holds a
// hundred items or a million. An update changes its row in place.

import type { Database } from "bun:sqlite";
import type { Change, ListNames, ListPage, Plan, StoreState, Version } from "../../collection/engine.ts";
import type { Limits } from "../../collection/limits.ts";
import { describedList, type ListKey, listKey, partsOf, rootList } from "../../collection/list-key.ts";
import type { ListedChange } from "../snapshot.ts";
import {
  type ChangeRow,
  type ListRow,
  listChecksum,
  rowChecksum,
  type StoreFields,
  storeChecksum,
} from "./row-checksum.ts";
import { type ChangeColumns, type ListColumns, prepareStatements } from "./row-statements.ts";
import { damaged, SqliteStoreError } from "./sqlite-errors.ts";

/** A place has 31 bits for the key of the list, and 32 bits for the position. */
const keyMax = 2 ** 31 - 1;
const positionMax = 2 ** 32 - 1;

/**
 * Whether the content of a store is what its last commit has left: its pages and its index fit together, and its row of
 * table `store` is `fields`. Throws if a row is damaged, or if one is missing.
 */
export function hasContent(database: Database, path: string, fields: StoreFields): boolean {
  const rows = new StoredRows(database, path);
  const finding = database.query<{ integrity_check: string }, []>("PRAGMA integrity_check(1)").get()?.integrity_check;
  if (finding !== "ok" || !Bun.deepEquals(rows.readStore(), fields)) return false;
  for (const _ of rows.items());
  return true;
}

export class StoredRows {
  readonly #path: string;
  readonly #statements: ReturnType<typeof prepareStatements>;

  /** The rows of the lists that were written last, so that they need not be read for each batch. */
  readonly #lists = new Map<ListKey, ListRow>();
  /** What `store` has returned last. Undefined while it runs. */
  #stored: StoreFields | undefined;
  /** What the row of table `store` has to say, while a plan is being stored. */
  #rowCount = 0;
  #checksumSum = 0;

  constructor(database: Database, path: string) {
    this.#path = path;
    this.#statements = prepareStatements(database);
  }

  /** Reads the one row of table `store`. */
  readStore(): StoreFields {
    const row = this.#statements.selectStore.get();
    if (!row) throw damaged(this.#path, "it has lost its epoch");
    const { checksum, ...fields } = row;
    if (checksum !== storeChecksum(fields)) throw damaged(this.#path, "the row with its epoch has changed");
    return fields;
  }

  writeStore(fields: StoreFields): void {
    this.#statements.updateStore.run({ ...fields, checksum: storeChecksum(fields) });
  }

  /**
   * Changes nothing, but makes SQLite write a page with the next commit. For an update without effect, it would write
   * nothing.
   */
  touchStore(): void {
    const fields = this.readStore();
    this.writeStore({ ...fields, clock: fields.clock + 1 });
    this.writeStore(fields);
  }

  /**
   * Stores a plan on the state that `before` describes, in the current transaction. Returns what the row of table `store`
   * says then.
   */
  store(before: StoreFields, { lists, state }: Plan, limits: Limits): StoreFields {
    // If the last transaction was rolled back, so were its changes of these rows.
    if (before !== this.#stored || this.#lists.size >= limits.listRowsKept) this.#lists.clear();
    this.#stored = undefined;
    this.#rowCount = before.rowCount;
    this.#checksumSum = before.checksumSum;
    let { clock } = before;
    for (const { list, hasItems, changes } of lists) {
      const stored = this.#lists.get(list) ?? this.#findList(list) ?? this.#addList(list);
      this.#lists.set(list, stored);
      if (hasItems !== undefined) this.#putList({ ...stored, hasItems }, stored);
      for (const { version, position, id, json, replaces } of changes) {
        clock++;
        const row = { key: stored.key, version, position, id, json, deletedAt: json === null ? clock : null };
        if (replaces === undefined) this.#insert(row);
        else this.#update(row, replaces);
      }
    }
    const { tombstonesMax, prunedAtOnce } = limits;
    if (Math.floor(clock / prunedAtOnce) > Math.floor(before.clock / prunedAtOnce)) this.#prune(tombstonesMax);
    const fields = { ...before, ...state, rowCount: this.#rowCount, checksumSum: this.#checksumSum | 0 };
    this.writeStore(fields);
    this.#stored = fields;
    return fields;
  }

  state(): StoreState {
    const { epoch, clock, itemCount, byteCount, listsMark } = this.readStore();
    return { epoch, clock, itemCount, byteCount, listsMark };
  }

  names(owner: string): ListNames {
    const { listsMark } = this.readStore();
    return { listsMark, names: this.#statements.selectNames.all(owner).map(({ name }) => name) };
  }

  bytesOf(owner: string): number {
    return this.#statements.selectBytes.get(owner)?.bytes ?? 0;
  }

  /** Every list that the store has, in the order of their keys. */
  lists(): ListRow[] {
    return this.#statements.selectLists.all().map((row) => this.#verified(row));
  }

  /** Undefined if the store never had an item of this list. */
  #findList(list: ListKey): ListRow | undefined {
    const { owner, name } = partsOf(list);
    const row = this.#statements.selectList.get(owner, name);
    return row ? this.#verified(row) : undefined;
  }

  #verified({ key, owner, name, hasItems, prunedThrough, checksum }: ListColumns): ListRow {
    const row = { key, list: listKey(name, owner), hasItems: hasItems === 1, prunedThrough };
    if (checksum !== listChecksum(row))
      throw damaged(this.#path, `the row of the list ${describedList(row.list)} has changed`);
    return row;
  }

  /** Makes the row of a new list. */
  #addList(list: ListKey): ListRow {
    const key = (this.#statements.selectLastKey.get()?.key ?? 0) + 1;
    if (key > keyMax) throw new SqliteStoreError(`${this.#path}: it has had ${keyMax} lists, and can have no more`);
    const row = { key, list, hasItems: false, prunedThrough: 0 };
    this.#putList(row);
    this.#rowCount++;
    return row;
  }

  /** Makes the row of a list, or puts it into the place of `old`. */
  #putList(row: ListRow, old?: ListRow): void {
    const { key, list, hasItems, prunedThrough } = row;
    const { owner, name } = partsOf(list);
    const checksum = listChecksum(row);
    this.#statements.putList.run(key, owner, name, hasItems ? 1 : 0, prunedThrough, checksum);
    this.#lists.set(list, row);
    this.#checksumSum += checksum - (old ? listChecksum(old) : 0);
  }

  /**
   * Reads a list: its rows after a position. Throws at the end if rows are missing, which SQLite does not notice when
   * the disk has lost a page or has an old state of it. If the store has more than one list, this is not noticed here,
   * but by `check`.
   */
  load(list: ListKey, after: Version, rowsInPage: number, bytesInPage: number): ListPage {
    const { epoch: storeEpoch } = this.readStore();
    const stored = this.#findList(list);
    if (!stored) return { storeEpoch, prunedThrough: 0, rows: [], isLast: true };
    const rows: Change[] = [];
    let bytes = 0;
    let isLast = true;
    for (const row of this.#statements.selectAfter.iterate(stored.key, after)) {
      isLast = rows.length < rowsInPage && bytes < bytesInPage;
      if (!isLast) break;
      this.#verify(row, list);
      const { version, position, id, json } = row;
      rows.push({ version, position, id, json });
      bytes += json?.length ?? 0;
    }
    if (isLast && this.#statements.selectLastKey.get()?.key === 0) this.#checkSums();
    return { storeEpoch, prunedThrough: stored.prunedThrough, rows, isLast };
  }

  /** Every row of every list, unverified. */
  everyRow(): Iterable<ChangeColumns> {
    return this.#statements.selectEvery.iterate();
  }

  /** Every item of every list. Throws if a row is damaged, and at the end if rows are missing. */
  *items(): Generator<ListedChange> {
    const lists = new Map(this.lists().map((row) => [row.key, row]));
    for (const row of this.everyRow()) {
      const list = lists.get(row.key)?.list;
      if (list === undefined) throw damaged(this.#path, `the row of version ${row.version} is of an unknown list`);
      this.#verify(row, list);
      if (row.json !== null) yield { ...row, list };
    }
    this.#checkSums();
  }

  #verify(row: ChangeColumns, list: ListKey): void {
    if (row.checksum === rowChecksum(row)) return;
    const place = list === rootList ? "the root list" : `the list ${describedList(list)}`;
    throw damaged(
      this.#path,
      `the checksum of the row of version ${row.version} in ${place} does not match its content`,
    );
  }

  #checkSums(): void {
    const finding = this.missingRows();
    if (finding !== undefined) throw damaged(this.#path, `it ${finding}`);
  }

  /** Says that there are other rows than the last commit has left. Undefined if there are the same. */
  missingRows(): string | undefined {
    const { rowCount, checksumSum } = this.readStore();
    const found = this.#statements.selectSums.get();
    if (found?.rowCount === rowCount && found.checksumSum === checksumSum >>> 0) return undefined;
    return `has ${found?.rowCount} rows, which are not the ${rowCount} that its last commit noted`;
  }

  #insert(row: ChangeRow): void {
    const { key, version, position, id, json, deletedAt } = row;
    if (position > positionMax)
      throw new SqliteStoreError(
        `${this.#path}: a list has taken ${positionMax} changes, and can take no new items. Copy it into another list with export and import`,
      );
    const checksum = rowChecksum(row);
    this.#statements.insert.run(key, position, version, id, json, deletedAt, checksum);
    this.#rowCount++;
    this.#checksumSum += checksum;
  }

  /** Puts a change into the place of the row with the version `replaces`. */
  #update(row: ChangeRow, replaces: Version): void {
    const { key, version, position, id, json, deletedAt } = row;
    const old = this.#statements.selectChecksum.get(key, position, replaces);
    if (!old) throw damaged(this.#path, `the row of version ${replaces} is missing`);
    const checksum = rowChecksum(row);
    this.#statements.update.run(key, position, version, id, json, deletedAt, checksum);
    this.#checksumSum += checksum - old.checksum;
  }

  /** Deletes all tombstones but the newest ones. */
  #prune(tombstonesMax: number): void {
    const pruned = new Map<number, Version>();
    for (const { key, version, checksum } of this.#statements.deleteTombstones.all(tombstonesMax)) {
      this.#rowCount--;
      this.#checksumSum -= checksum;
      pruned.set(key, Math.max(version, pruned.get(key) ?? 0));
    }
    for (const [key, prunedThrough] of pruned) {
      const row = this.#statements.selectListOf.get(key);
      if (!row) throw damaged(this.#path, "the row of a list is missing");
      const old = this.#verified(row);
      this.#putList({ ...old, prunedThrough: Math.max(old.prunedThrough, prunedThrough) }, old);
    }
  }
}
