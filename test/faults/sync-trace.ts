// Reads what strace recorded of a service, and finds answers that left before their write was on disk. It recognises a
// write by its item's ID, which is both in the log's page and in the answer. So it works whichever thread writes and
// syncs the log, and even if the next batch is written while answers to the last one are still being sent.

export interface SyncOrder {
  readonly answers: number;
  readonly syncs: number;
  /** Answers that left before their write was synced. */
  readonly early: number;
}

/**
 * `trace` has the calls of all threads in order, with the path of each file after its descriptor (`strace -f -y`).
 * Calls that another thread interrupts take two lines. A sync that takes two lines counts from its second line on. It
 * covers what was written before its first line.
 */
export function readSyncTrace(trace: string): SyncOrder {
  const totals = { answers: 0, syncs: 0, early: 0 };
  const written = new Set<string>();
  const synced = new Set<string>();
  /** For each thread, the IDs of the items that will be on disk when its sync returns. */
  const syncing = new Map<string, readonly string[]>();
  for (const line of trace.split("\n")) {
    const [, thread = "", call = "", path = ""] = /^(\d+) +(?:<\.\.\. )?(\w+)(?:\(\d+<([^>]*)>)?/.exec(line) ?? [];
    const isLog = path.endsWith(".db-wal");
    if (call === "pwrite64" && isLog) for (const id of idsIn(line)) written.add(id);
    else if (call === "fsync" || call === "fdatasync") {
      if (isLog) syncing.set(thread, [...written]);
      // strace marks the syncs that it has delayed itself.
      if (!/ = 0(?: \(DELAYED\))?$/.test(line)) continue;
      for (const id of syncing.get(thread) ?? []) synced.add(id);
      if (syncing.delete(thread)) totals.syncs++;
    } else if (/HTTP\/1\.1 201 /.test(line)) {
      totals.answers++;
      const [id = ""] = idsIn(line);
      if (!synced.has(id)) totals.early++;
    }
  }
  return totals;
}

function idsIn(line: string): readonly string[] {
  return line.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [];
}
