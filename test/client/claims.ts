// The claims about the client, as plain functions that need no test runner. So this one file runs under Bun, Node and
// Deno and in Chromium, against every deployment that it is given.

import { hasStatus } from "../../src/client/errors.ts";
import {
  type Credentials,
  isTodoError,
  TodoClient,
  type TodoClientError,
  type TodoClientOptions,
  type TodoItem,
  type WatchEvent,
  type WatchState,
} from "../../src/client/index.ts";
import { indexedDbStorage, OfflineList } from "../../src/client/offline.ts";
import { MapStorage } from "./map-storage.ts";

/** A deployment of the specification: our service or another one. */
export interface Deployment {
  readonly name: string;
  readonly url: string;
  readonly form: "a" | "b";
  readonly credentials?: Credentials;
  /** True for our service, which has ETags, problem documents, exact numbers and a request for one item. */
  readonly ours: boolean;
}

/** The part of IndexedDB that a claim uses to be in the way. */
interface Databases {
  open(name: string, version: number): { result: { close(): void }; onsuccess: () => void };
  deleteDatabase(name: string): { onsuccess: () => void };
}

interface Claim<Subject> {
  readonly title: string;
  readonly run: (subject: Subject) => Promise<void>;
}

export interface Result {
  readonly title: string;
  /** What went wrong. Undefined if the claim holds. */
  readonly failure?: string;
}

function client(deployment: Deployment, options: TodoClientOptions<TodoItem> = {}): TodoClient {
  return new TodoClient(deployment.url, { form: deployment.form, credentials: deployment.credentials, ...options });
}

/**
 * Claims about deployments. A claim that needs our service, or credentials, does nothing for other deployments. Each
 * claim removes the items that it created.
 */
export const deploymentClaims: readonly Claim<Deployment>[] = [
  {
    title: "creates, lists, reads, updates and removes an item",
    async run(deployment) {
      const todo = client(deployment);
      const { id, item } = await todo.create({ Name: "Buy milk", Done: false });
      const listed = async () => (await todo.list()).filter(({ ID }) => ID === id);
      same(item, { ID: id, Name: "Buy milk", Done: false });
      same(await listed(), [item]);
      same((await todo.get(id)).item, item);
      await todo.update({ ...item, Done: true });
      same((await todo.get(id.toUpperCase())).item, { ID: id, Name: "Buy milk", Done: true });
      await todo.remove(id);
      same(await listed(), []);
    },
  },
  {
    title: "a second create with the same ID is refused with 409, and an item that does not exist with 404",
    async run(deployment) {
      const todo = client(deployment);
      const ID = `AbCdEf01-2345-4789-aBcD-${randomDigits(12)}`;
      await refused(todo.get(ID), 404);
      await refused(todo.update({ ID, Name: "x" }), 404);
      same((await todo.create({ ID, Name: "first" })).id, ID);
      const error = await refused(todo.create({ ID, Name: "second" }), 409);
      ok(error.message.startsWith(`POST ${todo.url}`) && error.message.includes("409"), error.message);
      same((await todo.get(ID)).item, { ID, Name: "first" });
      await todo.remove(ID.toLowerCase());
      await refused(todo.remove(ID), 404);
    },
  },
  {
    title: "items() yields every item of the list",
    async run(deployment) {
      const todo = client(deployment);
      const created = await Promise.all(Array.from({ length: 5 }, (_, n) => todo.create({ Name: `number ${n} ✓` })));
      const seen: unknown[] = [];
      for await (const item of todo.items()) seen.push(item.Name);
      for (const { item, id } of created) {
        ok(seen.includes(item.Name), `${item.Name} was not listed`);
        await todo.remove(id);
      }
    },
  },
  {
    title: "watch() yields what changes in the list, live or by polling",
    async run(deployment) {
      const todo = client(deployment);
      const { item, id } = await todo.create({ Name: "watched" });
      const watcher = new Watcher(todo, { pollMs: 20 });
      const snapshot = await watcher.next("snapshot");
      const mine = (event: WatchEvent<TodoItem>) => event.kind !== "snapshot" && event.id === id.toLowerCase();
      same(snapshot.kind === "snapshot" && snapshot.items.some((watched) => watched.item.ID === id), true);
      await todo.update({ ...item, Name: "changed" });
      if (deployment.ours) same((await watcher.next("changed", mine)) as unknown, { item: { Name: "changed" } });
      else await watcher.next("snapshot", (event) => JSON.stringify(event).includes('"changed"'));
      await todo.remove(id);
      if (deployment.ours) await watcher.next("removed", mine);
      else await watcher.next("snapshot", (event) => !JSON.stringify(event).includes(id));
      await watcher.stop();
    },
  },
  {
    title: "liveList() shows the list and its changes, live or by polling, until the last subscriber leaves",
    async run(deployment) {
      const todo = client(deployment);
      const { item, id } = await todo.create({ Name: "shown" });
      const list = todo.liveList({ pollMs: 20 });
      let calls = 0;
      const unsubscribe = list.subscribe(() => {
        calls++;
      });
      const shown = () => list.getSnapshot().items.find((entry) => entry.id === id.toLowerCase())?.item.Name;
      await until(() => shown() === "shown");
      await until(() => list.getSnapshot().status.connection.kind === (deployment.ours ? "live" : "polling"));
      await todo.update({ ...item, Name: "changed" });
      await until(() => shown() === "changed");
      await todo.remove(id);
      await until(() => shown() === undefined);
      ok(calls > 2, "the listener was not called");
      unsubscribe();
      await until(() => list.getSnapshot().status.connection.kind === "stopped");
    },
  },
  {
    title: "an OfflineList sends its edits, and finds the list and unsent edits on the device again",
    async run(deployment) {
      const storage = "indexedDB" in globalThis ? indexedDbStorage() : new MapStorage();
      const options = { storage, name: randomDigits(12), pollMs: 20 };
      const first = new OfflineList(client(deployment), options);
      const id = await first.add({ Name: "offline" });
      await first.change(id, (item) => ({ ...item, Done: true }));
      await until(() => first.getSnapshot().pending.length === 0);
      same((await client(deployment).get(id)).item, { ID: id, Name: "offline", Done: true });
      await first.close();
      const unreachable = { fetch: () => Promise.reject(new TypeError("no network")) };
      const second = new OfflineList(client(deployment, unreachable), options);
      await second.ready;
      same(second.getSnapshot().status.kept, true);
      // Other servers have no token, so their list is not kept.
      if (deployment.ours) await second.remove(id);
      else await second.add({ Name: "kept" });
      await second.close();
      const third = new OfflineList(client(deployment), options);
      await third.sync();
      same(third.getSnapshot().pending, []);
      const shown = third.getSnapshot().items.filter(({ item }) => ["offline", "kept"].includes(item.Name ?? ""));
      same(
        shown.map(({ item }) => item.Name),
        deployment.ours ? [] : ["offline", "kept"],
      );
      for (const entry of shown) await third.remove(entry.id);
      await third.sync();
      for (const entry of [{ id }, ...shown]) await refused(client(deployment).get(entry.id), 404);
      await third.forget();
      await third.close();
    },
  },
  {
    title: "a database that could not be opened is opened again at the next attempt",
    async run() {
      if (!("indexedDB" in globalThis)) return;
      const { indexedDB } = globalThis as unknown as { indexedDB: Databases };
      const name = randomDigits(12);
      await new Promise<void>((resolve) => {
        const request = indexedDB.open(name, 2);
        request.onsuccess = () => {
          request.result.close();
          resolve();
        };
      });
      const storage = indexedDbStorage(name);
      ok(
        (await failureOf(Promise.resolve(storage.getItem("key")))).includes("version"),
        "the first attempt did not fail",
      );
      await new Promise<void>((resolve) => {
        indexedDB.deleteDatabase(name).onsuccess = () => resolve();
      });
      await storage.setItem("key", "value");
      same(await storage.getItem("key"), "value");
    },
  },
  {
    title: "wrong or missing credentials are refused, and a function may return the correct ones",
    async run(deployment) {
      const { credentials } = deployment;
      if (!credentials) return;
      await refused(new TodoClient(deployment.url).list(), 401);
      // The service limits the number of wrong passwords per address, so it may answer this attempt with 429.
      const wrong = { username: credentials.username, password: `wrong ${randomDigits(6)}` };
      const error = await refused(
        new TodoClient(deployment.url, { credentials: wrong, retry: { limit: 0 } }).list(),
        "HttpError",
      );
      ok(hasStatus(error, 401, 429), error.message);
      await new TodoClient(deployment.url, { credentials: async () => credentials }).list();
    },
  },
  {
    title: "with ifMatch, exactly one of two writers wins, and the other gets the current item",
    async run(deployment) {
      if (!deployment.ours) return;
      const todo = client(deployment);
      const { item, id, etag } = await todo.create({ Name: "contested" });
      const first = await todo.update({ ...item, Name: "one" }, { ifMatch: etag });
      const error = await refused(todo.update({ ...item, Name: "two" }, { ifMatch: etag }), "PreconditionFailedError");
      if (!isTodoError(error, "PreconditionFailedError")) throw error;
      same([error.current, error.currentEtag], [{ ID: id, Name: "one" }, first.etag]);
      await refused(todo.remove(id, { ifMatch: etag }), "PreconditionFailedError");
      same((await todo.get(id)).etag, first.etag);
      await todo.remove(id, { ifMatch: first.etag });
    },
  },
  {
    title: "a write whose response was lost is sent again and succeeds, unless somebody else has the ID",
    async run(deployment) {
      const losing = () => client(deployment, { retry: { delayMs: 1 }, fetch: losingAnswerOnce() });
      const todo = client(deployment);
      const ID = `00000000-0000-4000-8000-${randomDigits(12)}`;
      const created = await losing().create({ ID, Name: "once" });
      same([created.id, created.item], [ID, { ID, Name: "once" }]);
      await refused(losing().create({ ID, Name: "mine" }), 409);
      const { etag } = await losing().update({ ID, Name: "after" }, { ifMatch: created.etag });
      same([(await todo.get(ID)).item.Name, (await todo.get(ID)).etag], ["after", etag]);
      await losing().remove(ID);
      await refused(todo.get(ID), 404);
    },
  },
];

/** Claims about networks and servers that fail. Each gets the address of the server in odd-server.ts. */
export const networkClaims: readonly Claim<string>[] = [
  {
    title: "items() yields the first item before the server has sent the last byte",
    async run(origin) {
      const url = session(origin, "first-item-first");
      const numbers: unknown[] = [];
      for await (const item of new TodoClient(url).items()) {
        if (numbers.length === 0) await fetch(`${url}/release`);
        numbers.push(item["N"]);
      }
      same(numbers, [0, 1, 2]);
    },
  },
  {
    title: "a response larger than maxResponseBytes throws a ResponseTooLargeError, even if it never ends",
    async run(origin) {
      const url = session(origin, "endless");
      await refused(new TodoClient(url, { maxResponseBytes: 256_000 }).list(), "ResponseTooLargeError");
      await until(async () => (await (await fetch(`${url}/cut`)).text()) === "true");
    },
  },
  {
    title: "an error that never ends is read for a megabyte, and is an error with its status",
    async run(origin) {
      const url = session(origin, "endless");
      await refused(new TodoClient(url, { maxResponseBytes: 20_000_000 }).update({ ID: "x" }), 400);
      await until(async () => (await (await fetch(`${url}/cut`)).text()) === "true");
    },
  },
  {
    title: "leaving the loop over items() early closes the connection",
    async run(origin) {
      const url = session(origin, "endless");
      for await (const item of new TodoClient(url).items()) if (item["N"] === 10) break;
      await until(async () => (await (await fetch(`${url}/cut`)).text()) === "true");
    },
  },
  {
    title: "a server that is silent, before its response or in the middle of it, causes a TimeoutError",
    async run(origin) {
      for (const kind of ["silent", "stalls"]) {
        const todo = new TodoClient(session(origin, kind), { timeoutMs: 100, retry: { limit: 0 } });
        await refused(todo.list(), "TimeoutError");
      }
    },
  },
  {
    title: "a call that is aborted at any moment throws the signal's reason",
    async run(origin) {
      for (const kind of ["silent", "stalls", "busy-for-hours"]) {
        const controller = new AbortController();
        const options = { retry: { delayMsMax: 10_000_000 } };
        const listing = new TodoClient(session(origin, kind), options).list({ signal: controller.signal });
        setTimeout(() => controller.abort(new Error("enough")), 50);
        same(await failureOf(listing), "enough");
      }
      const todo = new TodoClient(session(origin, "busy"));
      same(await failureOf(todo.list({ signal: AbortSignal.abort(new Error("before")) })), "before");
    },
  },
  {
    title: "list() reads the list again if it breaks off, and if that does not help, the error says what happened",
    async run(origin) {
      const todo = new TodoClient(session(origin, "breaks"), { retry: { delayMs: 1 } });
      same(
        (await todo.list()).map((item) => item["N"]),
        [0, 1],
      );
      const once = new TodoClient(session(origin, "breaks"), { retry: { limit: 0 } });
      const { message } = await refused(once.list(), "NetworkError");
      ok(message.includes("the connection broke off") && !message.includes("--cors"), message);
    },
  },
  {
    title: "a request to an overloaded server is sent again after Retry-After, unless that is longer than delayMsMax",
    async run(origin) {
      same(await new TodoClient(session(origin, "busy")).list(), []);
      await refused(new TodoClient(session(origin, "busy"), { retry: { limit: 0 } }).list(), 503);
      const error = await refused(new TodoClient(session(origin, "busy-for-hours")).list(), 429);
      same(isTodoError(error, "HttpError") && error.retryAfterMs, 7_200_000);
    },
  },
  {
    title:
      "a redirect throws an HttpError with the code Redirect, and a page instead of a list throws an InvalidResponseError",
    async run(origin) {
      const error = await refused(new TodoClient(session(origin, "redirect")).create({ Name: "x" }), "HttpError");
      same(isTodoError(error, "HttpError") && error.code, "Redirect");
      await refused(new TodoClient(session(origin, "page")).list(), "InvalidResponseError");
    },
  },
  {
    title: "a server that cannot be reached causes a NetworkError, which in a web page of another origin names --cors",
    async run() {
      // Port 9 is "discard": no server listens there, and browsers refuse to connect to it.
      const { message } = await refused(
        new TodoClient("http://127.0.0.1:9/", { retry: { limit: 0 } }).list(),
        "NetworkError",
      );
      const page: unknown = Reflect.get(globalThis, "location");
      const hint = `start todoitems with --cors ${page === undefined ? "" : new URL(String(page)).origin}`;
      same(message.includes(hint), page !== undefined);
    },
  },
  {
    title:
      "watch() polls a server that sends a page instead of a feed, or whose CORS rules allow only requests for items",
    async run(origin) {
      const credentials = { username: "ann", password: "makes browsers ask before they send" };
      for (const kind of ["pages", "closed"]) {
        const watcher = new Watcher(new TodoClient(session(origin, kind), { credentials }), { pollMs: 20 });
        await watcher.state("polling");
        await watcher.next("snapshot");
        await watcher.next("snapshot");
        await watcher.stop();
      }
    },
  },
];

/** Runs every claim, one after another, and returns the result of each. */
export async function runClaims(deployments: readonly Deployment[], oddOrigin: string): Promise<Result[]> {
  const results: Result[] = [];
  for (const deployment of deployments)
    for (const claim of deploymentClaims) results.push(await attempt(claim, deployment, `${deployment.name}: `));
  for (const claim of networkClaims) results.push(await attempt(claim, oddOrigin, ""));
  return results;
}

async function attempt<Subject>(claim: Claim<Subject>, subject: Subject, prefix: string): Promise<Result> {
  const title = prefix + claim.title;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the claim took longer than 60 seconds")), 60_000);
  });
  try {
    await Promise.race([claim.run(subject), late]);
    return { title };
  } catch (error) {
    return {
      title,
      failure: error instanceof Error ? `${error.name}: ${error.message}\n${error.stack}` : String(error),
    };
  } finally {
    clearTimeout(timer);
  }
}

/** Collects the events and states of a watch, so that a claim can wait for them one by one. */
class Watcher {
  readonly #controller = new AbortController();
  readonly #events: WatchEvent<TodoItem>[] = [];
  readonly #states: WatchState[] = [];
  readonly #ended: Promise<unknown>;

  constructor(todo: TodoClient, options: { readonly pollMs?: number } = {}) {
    const { signal } = this.#controller;
    const run = async () => {
      const events = todo.watch({ ...options, signal, onState: (state) => this.#states.push(state) });
      for await (const event of events) this.#events.push(event);
    };
    this.#ended = run().catch((error: unknown) => error);
  }

  /** Waits for the next event of this kind that `matches` accepts, and skips the events before it. */
  async next(
    kind: WatchEvent<TodoItem>["kind"],
    matches: (event: WatchEvent<TodoItem>) => boolean = () => true,
  ): Promise<WatchEvent<TodoItem>> {
    const isWanted = (event: WatchEvent<TodoItem>) => event.kind === kind && matches(event);
    await until(() => this.#events.some(isWanted));
    const index = this.#events.findIndex(isWanted);
    const [event] = this.#events.splice(0, index + 1).slice(index);
    if (!event) throw new Error("the event has disappeared");
    return event;
  }

  async state(kind: WatchState["kind"]): Promise<void> {
    await until(() => this.#states.some((state) => state.kind === kind));
    this.#states.splice(0, this.#states.findIndex((state) => state.kind === kind) + 1);
  }

  async stop(): Promise<void> {
    const reason = new Error("watched enough");
    this.#controller.abort(reason);
    const ended = await this.#ended;
    if (ended !== reason) throw ended;
  }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

function session(origin: string, kind: string): string {
  return `${origin}/${kind}/${randomDigits(12)}`;
}

function randomDigits(count: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(count)), (byte) => byte % 10).join("");
}

/** A `fetch` that loses the first answer after the server has sent it. */
function losingAnswerOnce(): typeof globalThis.fetch {
  let count = 0;
  return (async (url: string, init: RequestInit) => {
    const response = await fetch(url, init);
    if (count++ === 0) throw new TypeError("connection lost");
    return response;
  }) as typeof globalThis.fetch;
}

/** The error of a call that must fail, with an error of this name or an `HttpError` of this status. */
async function refused(
  call: Promise<unknown>,
  name: NonNullable<Parameters<typeof isTodoError>[1]> | number,
): Promise<TodoClientError> {
  try {
    await call;
  } catch (error) {
    if (typeof name === "number" && hasStatus(error, name)) return error;
    if (typeof name === "string" && isTodoError(error, name)) return error;
    throw error;
  }
  throw new Error(`expected ${name}, but the call succeeded`);
}

async function failureOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "none";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function ok(condition: boolean, message: string): void {
  if (!condition) throw new Error(message);
}

/** Compares values deeply. An object may have more members than expected. */
function same(actual: unknown, expected: unknown): void {
  ok(matches(actual, expected), `expected ${JSON.stringify(expected)}, found ${JSON.stringify(actual)}`);
}

function matches(actual: unknown, expected: unknown): boolean {
  if (typeof expected !== "object" || expected === null) return Object.is(actual, expected);
  if (typeof actual !== "object" || actual === null) return false;
  if (Array.isArray(expected) && (!Array.isArray(actual) || actual.length !== expected.length)) return false;
  const members = new Map(Object.entries(actual));
  return Object.entries(expected).every(([name, value]) => matches(members.get(name), value));
}
