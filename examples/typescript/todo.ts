// A client that needs only `fetch`: it lists, creates, updates and deletes an item, and follows changes as they happen.
// Run it with `npx bun examples/typescript/todo.ts`. It uses nothing of Bun's own. In a project of your own,
// `todoitems-client` does more: `import { TodoClient } from "todoitems-client"`.

import { setTimeout as pause } from "node:timers/promises";

interface TodoItem {
  readonly ID: string;
  readonly Name: string;
  /** Any field of any app. PUT replaces the whole item, so also send back the fields that your app does not know. */
  readonly [field: string]: unknown;
}

interface Change {
  readonly version: number;
  readonly position: number;
  readonly id: string;
  /** Absent if the item was deleted. */
  readonly etag?: string;
  /** Null if the item was deleted. */
  readonly item: TodoItem | null;
}

interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly current?: TodoItem;
}

/** Thrown if the service refuses a request. */
class Refused extends Error {
  override readonly name = "Refused";
  readonly status: number;
  /** A stable word for programs, such as `PreconditionFailed`. */
  readonly code: string;
  /** Only with status 412: the item as it is now. */
  readonly current: TodoItem | undefined;

  constructor(status: number, problem: Problem) {
    super(problem.detail);
    this.status = status;
    this.code = problem.code;
    this.current = problem.current;
  }
}

const server = process.env["TODOITEMS_SERVER"] ?? "http://localhost:5000/";
const listUrl = new URL("api/todoitems/", server).href;

async function send(method: string, url: string, item?: TodoItem, etag?: string | null): Promise<Response> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(item ? { "Content-Type": "application/json" } : {}),
      ...(etag ? { "If-Match": etag } : {}),
      // If the service needs credentials: Authorization: `Basic ${btoa("NAME:PASSWORD")}`,
    },
    ...(item ? { body: JSON.stringify(item) } : {}),
  });
  if (!response.ok) throw new Refused(response.status, (await response.json()) as Problem);
  return response;
}

/**
 * Yields every change from now on. If the connection breaks, the feed continues with the first change missed. Yields
 * "resync" if the service no longer knows what was missed. Then fetch everything again: see docs/sync.md.
 */
async function* follow(signal: AbortSignal, onReady: () => void): AsyncGenerator<Change | "resync"> {
  let token: string | undefined;
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      const since = token === undefined ? "" : `?since=${token}`;
      const response = await fetch(new URL(`changes/events${since}`, server), { signal });
      if (!response.ok) throw new Refused(response.status, (await response.json()) as Problem);
      for await (const { event, id, data } of events(response)) {
        failures = 0;
        if (event === "ready") onReady();
        if (event === "change") yield JSON.parse(data);
        if (event === "resync") yield "resync";
        if (id !== "") token = id;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused && error.status < 500 && error.status !== 429) throw error;
    }
    // Wait longer after each failure. The time is random, so that clients do not all come back at once.
    await pause(Math.random() * Math.min(30_000, 500 * 2 ** failures));
  }
}

/**
 * Reads server-sent events. Each ends with an empty line. Lines that begin with a colon are heartbeats. They have no
 * `event` field, so they are skipped.
 */
async function* events(response: Response): AsyncGenerator<{ event: string; id: string; data: string }> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string) =>
        block
          .split("\n")
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2) ?? "";
      if (field("event") !== "") yield { event: field("event"), id: field("id"), data: field("data") };
    }
  }
}

async function refusalOf(request: Promise<Response>): Promise<Refused> {
  try {
    await request;
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
  throw new Error("this should have been refused");
}

// Make the ID yourself. Then a create whose answer was lost can safely be sent again: a duplicate gets 409.
const item: TodoItem = { ID: crypto.randomUUID(), Name: "Buy milk", Notes: "2 litres", Done: false };
const itemUrl = listUrl + item.ID;

const stop = new AbortController();
const seen: string[] = [];
let following = Promise.resolve();
await new Promise<void>((ready) => {
  following = (async () => {
    for await (const change of follow(stop.signal, ready)) {
      if (change === "resync" || change.id !== item.ID) continue;
      seen.push(JSON.stringify(change.item));
      if (change.item === null) stop.abort();
    }
  })();
});

const created = await send("POST", listUrl, item);
console.log("Create:", created.status, created.headers.get("ETag"));

const items = (await (await send("GET", listUrl)).json()) as TodoItem[];
console.log(
  "List:",
  items.map(({ Name }) => Name),
);

const updated = await send("PUT", itemUrl, { ...item, Done: true }, created.headers.get("ETag"));
console.log("Update:", updated.status, updated.headers.get("ETag"));

const old = await refusalOf(send("PUT", itemUrl, { ...item, Name: "Buy oat milk" }, created.headers.get("ETag")));
console.log("Update with an old ETag:", old.status, old.code, "the item is now", JSON.stringify(old.current));

const twice = await refusalOf(send("POST", listUrl, { ...item, Name: "Buy bread" }));
console.log("Create the same ID:", twice.status, twice.code);

const deleted = await send("DELETE", itemUrl, undefined, updated.headers.get("ETag"));
console.log("Delete:", deleted.status);

await following;
console.log("The feed showed the item as:");
for (const state of seen) console.log(" ", state);
