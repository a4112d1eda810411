// What the tables of a simulated PostgreSQL store hold at one moment. Also what `commit_batch`, the function that
// stores a batch of changes, does to them. A state is never changed: each commit makes another one. So an older state
// can become current again. That happens if a standby takes over that had not received the latest commits.

import { type ListKey, listEpoch, listKey } from "../../src/collection/list-key.ts";

/** The lists that users write to. */
export const listNames: readonly ListKey[] = ["", "work", "home"];

/** The base address of a list. */
export function addressOf(list: ListKey): string {
  return list === "" ? "" : `/lists/${list}`;
}

/** A row of todoitems.item. `json` is null if the item was deleted. */
export interface Row {
  /** The key of the list in todoitems.list. */
  readonly list: number;
  /** The store's version after the change. */
  readonly clock: number;
  /** The list's version. The column `number` of the table. */
  readonly version: number;
  readonly position: number;
  readonly id: string;
  readonly json: string | null;
}

/** A row of todoitems.list. */
export interface ListRow {
  readonly key: number;
  readonly list: ListKey;
  readonly hasItems: boolean;
  readonly pruned: number;
}

/** A row of todoitems.history, and the rows before it. */
interface HistoryRow {
  readonly version: number;
  readonly batch: string;
  readonly older: HistoryRow | undefined;
}

export interface StoreState {
  readonly epoch: string;
  readonly version: number;
  readonly batch: string;
  readonly prunedThrough: number;
  readonly counts: readonly [itemCount: number, byteCount: number, listsMark: number];
  readonly lists: readonly ListRow[];
  /** All rows, in order of clock. */
  readonly rows: readonly Row[];
  readonly history: HistoryRow | undefined;
  readonly voided: ReadonlySet<string>;
}

export function emptyState(epoch: string): StoreState {
  const lists = [{ key: 0, list: "", hasItems: false, pruned: 0 }];
  const nothing = { rows: [], history: undefined, voided: new Set<string>() };
  return { epoch, version: 0, batch: "", prunedThrough: 0, counts: [0, 0, 0], lists, ...nothing };
}

/** What a client sees of a list. */
export interface ListView {
  readonly epoch: string;
  readonly version: number;
  /** All rows of the list, in order of version. */
  readonly rows: readonly Row[];
  /** The rows of items that exist, in the order of the list. */
  readonly listed: readonly Row[];
}

const views = new WeakMap<StoreState, Map<ListKey, ListView>>();

export function viewOf(state: StoreState, list: ListKey): ListView {
  const known = views.get(state) ?? new Map<ListKey, ListView>();
  views.set(state, known);
  const view = known.get(list) ?? makeView(state, list);
  known.set(list, view);
  return view;
}

function makeView(state: StoreState, list: ListKey): ListView {
  const stored = state.lists.find((row) => row.list === list);
  const rows = state.rows.filter((row) => row.list === stored?.key);
  return {
    epoch: listEpoch(state.epoch, list),
    version: Math.max(stored?.pruned ?? 0, rows.at(-1)?.version ?? 0),
    rows,
    listed: rows.filter(({ json }) => json !== null).sort((a, b) => a.position - b.position),
  };
}

/** The ID of the batch of changes that led to a version. Undefined if the history has no such version. */
export function batchAt({ history }: StoreState, version: number): string | undefined {
  for (let row = history; row && row.version >= version; row = row.older) if (row.version === version) return row.batch;
  return undefined;
}

/**
 * The parameters of `commit_batch` that matter here. The limits on the table of past batches are left out: they would
 * never be reached.
 */
export interface BatchParameters {
  readonly sinceEpoch: string;
  readonly sinceVersion: number;
  readonly sinceBatch: string;
  readonly newVersion: number;
  readonly newBatch: string;
  readonly counts: StoreState["counts"];
  readonly listLines: string;
  readonly lines: string;
}

/**
 * A real store keeps 10,000 tombstones (rows of deleted items). Once in 1,000 versions, it removes those beyond that
 * number. The limits here are so low that each simulation removes some.
 */
const tombstonesMax = 12;
const pruneEvery = 40;

/** What `commit_batch` does to a state. Undefined if nothing is stored. */
export function commitBatch(state: StoreState, batch: BatchParameters): StoreState | undefined {
  const isExpected =
    state.epoch === batch.sinceEpoch && state.version === batch.sinceVersion && state.batch === batch.sinceBatch;
  if (!isExpected || state.voided.has(batch.newBatch)) return undefined;
  const { newVersion: version, counts } = batch;
  let { lists } = state;
  const keys: number[] = [];
  let left = state.rows;
  for (const line of batch.listLines.split("\n")) {
    const [owner = "", name = "", hasItems = "", replaced = ""] = line.split("\t");
    const list = listKey(name, owner);
    const key = lists.find((row) => row.list === list)?.key ?? newListKey(lists);
    if (!lists.some((row) => row.key === key)) lists = [...lists, { key, list, hasItems: false, pruned: 0 }];
    if (hasItems !== "")
      lists = lists.map((row) => (row.key === key ? { ...row, hasItems: hasItems === "true" } : row));
    keys.push(key);
    const versions = new Set(replaced.split(",").map(Number));
    left = left.filter((row) => row.list !== key || !versions.has(row.version));
  }
  const stored = batch.lines.split("\n").map((line, index) => rowOf(line, keys, state.version + index + 1));
  const rows = [...left, ...stored];
  const history = { version, batch: batch.newBatch, older: state.history };
  const next = { ...state, version, batch: batch.newBatch, counts, lists, rows, history };
  const isTime = Math.floor(version / pruneEvery) > Math.floor(state.version / pruneEvery);
  return isTime ? pruned(next) : next;
}

/** A sequence of the server. After a failover, it may give the same number again, and the list of that number is lost. */
function newListKey(lists: readonly ListRow[]): number {
  return Math.max(...lists.map(({ key }) => key)) + 1;
}

function pruned(state: StoreState): StoreState {
  const newest = state.rows.filter(({ json }) => json === null).at(-1 - tombstonesMax);
  if (!newest) return state;
  const isGone = ({ json, clock }: Row) => json === null && clock <= newest.clock;
  const gone = state.rows.filter(isGone);
  const rows = state.rows.filter((row) => !isGone(row));
  const lists = state.lists.map((row) => {
    const versions = gone.filter(({ list }) => list === row.key).map(({ version }) => version);
    return { ...row, pruned: Math.max(row.pruned, ...versions) };
  });
  return { ...state, lists, rows, prunedThrough: newest.clock };
}

/** A row as the server sends it to the engine: a line of text, without JSON if the item was deleted. */
export function lineOf({ version, position, id, json }: Row): string {
  return [version, position, id, ...(json === null ? [] : [json])].join("\t");
}

/** Reads a line that the engine sends to the server. The JSON is empty if the item is to be deleted. */
function rowOf(line: string, keys: readonly number[], clock: number): Row {
  const [nth, version, position, id = "", json = ""] = line.split("\t");
  const list = keys[Number(nth) - 1] ?? -1;
  return { list, clock, version: Number(version), position: Number(position), id, json: json === "" ? null : json };
}
