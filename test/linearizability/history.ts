// What clients saw of a service: each operation with the time it was sent, the time its answer arrived, and the
// answer. From that, a checker can tell whether a single copy of the items could have given these answers.

/** One item's state as an answer showed it. `n` is unique to the write it comes from. */
export interface SeenItem {
  readonly n: number;
  readonly version: number;
}

interface Timed {
  readonly sentAt: number;
  /** Infinity if no answer came, or if the answer does not say whether the write happened. */
  readonly answeredAt: number;
}

export type ItemOperation = Timed & { readonly id: string } & (
    | {
        readonly kind: "create" | "update";
        readonly n: number;
        /** The version that an update named in If-Match. */
        readonly condition?: number;
        readonly outcome: WriteOutcome;
        /** The version in the answer. Undefined unless the write was answered with success. */
        readonly version?: number;
      }
    | { readonly kind: "delete"; readonly outcome: WriteOutcome }
    | { readonly kind: "read"; readonly seen: SeenItem | undefined }
  );

type WriteOutcome = "done" | "id-in-use" | "not-found" | "condition-failed" | "unknown";

export interface ListOperation extends Timed {
  readonly version: number;
  /** The exact body of the answer. */
  readonly body: string;
  /** Those items in the list that the clients wrote, in the order of the list. */
  readonly items: readonly { readonly id: string; readonly n: number }[];
}

export interface History {
  readonly operations: readonly ItemOperation[];
  readonly lists: readonly ListOperation[];
}

export interface ClientOptions {
  /** The servers that clients send requests to. Each client uses one of them. */
  readonly origins: readonly string[];
  readonly clientCount: number;
  /** Called before each operation. A client stops when this function returns false. */
  readonly goOn: (operationsSoFar: number) => boolean;
}

/** How long a client waits after an answer with status 503, or after a request without an answer. */
const pauseMs = 20;

/** Runs clients against a service and records what they see of their items. */
export async function record({ origins, clientCount, goOn }: ClientOptions): Promise<History> {
  // Every client writes to all these items, but deletes only those of the first half. `checkContents` in checker.ts
  // leaves out items that were deleted, so it needs others.
  const ids: readonly string[] = Array.from({ length: 8 }, () => crypto.randomUUID());
  const deletable = ids.slice(0, ids.length / 2);
  const operations: ItemOperation[] = [];
  const lists: ListOperation[] = [];
  const newestTags = new Map<string, string>();
  let n = 0;

  async function run(origin: string): Promise<void> {
    while (goOn(operations.length + lists.length)) {
      const id = pick(ids);
      const chance = Math.random();
      if (chance < 0.25) await read(origin, id);
      else if (chance < 0.4) await list(origin);
      else if (chance < 0.55) await write(origin, "create", id);
      else if (chance < 0.75) await write(origin, "update", id);
      else if (chance < 0.85) await write(origin, "update", id, newestTags.get(id));
      else await remove(origin, pick(deletable));
    }
  }

  async function write(origin: string, kind: "create" | "update", id: string, ifMatch?: string): Promise<void> {
    const own = ++n;
    const { response, sentAt, answeredAt } = await request(`${origin}/api/todoitems/`, {
      method: kind === "create" ? "POST" : "PUT",
      body: `{"ID":"${id}","n":${own}}`,
      headers: {
        "Content-Type": "application/json",
        ...(ifMatch !== undefined && { "If-Match": ifMatch }),
      },
    });
    const outcome = outcomeOf(response);
    const etag = response && outcome === "done" ? response.etag : undefined;
    if (etag !== undefined) newestTags.set(id, etag);
    operations.push({
      kind,
      id,
      n: own,
      outcome,
      sentAt,
      answeredAt: outcome === "unknown" ? Number.POSITIVE_INFINITY : answeredAt,
      ...(ifMatch !== undefined && { condition: versionOf(ifMatch) }),
      ...(etag !== undefined && { version: versionOf(etag) }),
    });
  }

  async function remove(origin: string, id: string): Promise<void> {
    const { response, sentAt, answeredAt } = await request(`${origin}/api/todoitems/${id}`, { method: "DELETE" });
    const outcome = outcomeOf(response);
    operations.push({
      kind: "delete",
      id,
      outcome,
      sentAt,
      answeredAt: outcome === "unknown" ? Number.POSITIVE_INFINITY : answeredAt,
    });
  }

  async function read(origin: string, id: string): Promise<void> {
    const { response, sentAt, answeredAt } = await request(`${origin}/api/todoitems/${id}`);
    if (response?.status === 404) operations.push({ kind: "read", id, seen: undefined, sentAt, answeredAt });
    if (response?.status !== 200) return;
    const seen = { n: (JSON.parse(response.body) as { n: number }).n, version: versionOf(response.etag) };
    operations.push({ kind: "read", id, seen, sentAt, answeredAt });
  }

  async function list(origin: string): Promise<void> {
    const { response, sentAt, answeredAt } = await request(`${origin}/api/todoitems/`);
    if (response?.status !== 200) return;
    const items = (JSON.parse(response.body) as { ID: string; n: number }[])
      .map(({ ID, n }) => ({ id: ID, n }))
      .filter(({ id }) => ids.includes(id));
    lists.push({ version: versionOf(response.etag), body: response.body, items, sentAt, answeredAt });
  }

  await Promise.all(Array.from({ length: clientCount }, (_, index) => run(origins[index % origins.length] ?? "")));
  return { operations, lists };
}

interface Answer {
  readonly status: number;
  readonly etag: string;
  readonly body: string;
}

/** The response is undefined if the request fails, or takes so long that it counts as failed. */
async function request(
  url: string,
  init?: RequestInit,
): Promise<{ response: Answer | undefined; sentAt: number; answeredAt: number }> {
  const sentAt = performance.now();
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(20_000) });
    const body = await response.text();
    const answeredAt = performance.now();
    if (response.status === 503) await Bun.sleep(pauseMs);
    return {
      response: { status: response.status, etag: response.headers.get("etag") ?? "", body },
      sentAt,
      answeredAt,
    };
  } catch {
    await Bun.sleep(pauseMs);
    return { response: undefined, sentAt, answeredAt: Number.POSITIVE_INFINITY };
  }
}

function outcomeOf(response: Answer | undefined): WriteOutcome {
  if (response?.status === 201 || response?.status === 204) return "done";
  if (response?.status === 404) return "not-found";
  if (response?.status === 409) return "id-in-use";
  if (response?.status === 412) return "condition-failed";
  return "unknown";
}

function versionOf(etag: string): number {
  return Number(/-([0-9]+)(?:-gzip)?"$/.exec(etag)?.[1]);
}

function pick<Value>(values: readonly Value[]): Value {
  const value = values[Math.floor(Math.random() * values.length)];
  if (value === undefined) throw new Error("nothing to pick from");
  return value;
}
