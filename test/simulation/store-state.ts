// What the tables of a simulated PostgreSQL store hold at one moment. Also what `commit_batch`, the function that
// stores a batch of changes, does to them. A state is never changed: each commit makes another one. So an older state
// can become current again. That happens if a standby takes over that had not received the latest commits.

/** A row of todoitems.item. `json` is null if the item was deleted. */
export interface Row {
  readonly version: number;
  readonly position: number;
  readonly id: string;
  readonly json: string | null;
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
  /** All rows, in order of version. */
  readonly rows: readonly Row[];
  readonly history: HistoryRow | undefined;
  readonly voided: ReadonlySet<string>;
}

export function emptyState(epoch: string): StoreState {
  return { epoch, version: 0, batch: "", prunedThrough: 0, rows: [], history: undefined, voided: new Set() };
}

/** The rows of items that exist, in the order of the list. */
export function listedRows({ rows }: StoreState): readonly Row[] {
  return rows.filter(({ json }) => json !== null).sort((a, b) => a.position - b.position);
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
  readonly lines: string;
  readonly replaced: string;
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
  const version = batch.newVersion;
  const replaced = new Set(batch.replaced.split(",").map(Number));
  const rows = [...state.rows.filter((row) => !replaced.has(row.version)), ...batch.lines.split("\n").map(rowOf)];
  const history = { version, batch: batch.newBatch, older: state.history };
  const stored = { ...state, version, batch: batch.newBatch, rows, history };
  const isTime = Math.floor(version / pruneEvery) > Math.floor(state.version / pruneEvery);
  return isTime ? pruned(stored) : stored;
}

function pruned(state: StoreState): StoreState {
  const newest = state.rows.filter(({ json }) => json === null).at(-1 - tombstonesMax);
  if (!newest) return state;
  const rows = state.rows.filter(({ json, version }) => json !== null || version > newest.version);
  return { ...state, rows, prunedThrough: newest.version };
}

/** A row as the server sends it to the engine: a line of text, without JSON if the item was deleted. */
export function lineOf({ version, position, id, json }: Row): string {
  return [version, position, id, ...(json === null ? [] : [json])].join("\t");
}

/** Reads a line that the engine sends to the server. The JSON is empty if the item is to be deleted. */
function rowOf(line: string): Row {
  const [version, position, id = "", json = ""] = line.split("\t");
  return { version: Number(version), position: Number(position), id, json: json === "" ? null : json };
}
