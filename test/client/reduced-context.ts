// A program that calls every public method of the built package in a context like React Native. It removes everything
// that is missing there before it imports the package. test/tools/client-package.long.test.ts runs it where the package
// is installed, with the address of a service as its argument.

import { equal, match, ok } from "node:assert/strict";
import type * as Client from "../../src/client/index.ts";
import type * as Offline from "../../src/client/offline.ts";

const [, , origin = ""] = process.argv;
const realFetch = globalThis.fetch;
const RealController = globalThis.AbortController;

/** Like React Native's: the constructor joins by text, and there are getters only. */
class TextURL {
  readonly #text: string;

  constructor(address: string, base?: string) {
    const isAbsolute = /^[a-z]+:\/\//i.test(address);
    this.#text = isAbsolute || base === undefined ? address : base + address;
    if (!this.#text.includes("?") && !this.#text.endsWith("/")) this.#text += "/";
  }

  get href(): string {
    return this.#text;
  }

  toString(): string {
    return this.#text;
  }
}

/** Like React Native's: it knows whether it is aborted and tells its listeners, and nothing more. */
class PlainSignal {
  aborted = false;
  readonly #listeners = new Set<() => void>();

  addEventListener(_type: string, listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: string, listener: () => void): void {
    this.#listeners.delete(listener);
  }

  abort(): void {
    this.aborted = true;
    for (const listener of [...this.#listeners]) listener();
  }
}

class PlainController {
  readonly signal = new PlainSignal();

  abort(): void {
    this.signal.abort();
  }
}

/** Like React Native's: it resolves when the whole response is there, and the response has no stream. */
async function wholeFetch(url: string, init: { readonly signal: PlainSignal } & RequestInit): Promise<unknown> {
  const controller = new RealController();
  init.signal.addEventListener("abort", () => controller.abort());
  const response = await realFetch(url, { ...init, signal: controller.signal });
  const text = await response.text();
  const { status, statusText, ok: isOk, headers, type } = response;
  return { status, statusText, ok: isOk, headers, type, text: async () => text };
}

for (const [name, value] of Object.entries({
  URL: TextURL,
  AbortController: PlainController,
  AbortSignal: PlainSignal,
  fetch: wholeFetch,
  TextDecoder: undefined,
  TextEncoder: undefined,
  ReadableStream: undefined,
  crypto: undefined,
}))
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });

// The names are variables, so that the type checker does not look for installed packages.
const [clientName, offlineName] = ["todoitems-client", "todoitems-client/offline"];
const { TodoClient, isTodoError } = (await import(clientName)) as typeof Client;
const { OfflineList } = (await import(offlineName)) as typeof Offline;

const called = new Set<string>();
/** Notes which methods are called. */
function noting<Value extends object>(value: Value): Value {
  return new Proxy(value, {
    get(target, name) {
      called.add(`${target.constructor.name}.${String(name)}`);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" && name !== "constructor" ? member.bind(target) : member;
    },
  });
}

async function until(condition: () => boolean): Promise<void> {
  for (let count = 0; !condition(); count++) {
    ok(count < 2_000, `in vain: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

let count = 0;
const newId = () => `00000000-0000-4000-8000-${String(++count).padStart(12, "0")}`;

// Without a source of random numbers, the error says what helps.
const withoutId = new TodoClient(origin).create({ Name: "x" }).then(String, String);
match(await withoutId, /react-native-get-random-values.*newId/);

const credentials = { username: "Zoë", password: "pä:ss ✓" };
const todo = noting(new TodoClient(`${origin}/api/todoitems/`, { newId, credentials, retry: { limit: 0 } }));
equal(todo.url, `${origin}/api/todoitems/`);
const { id, item, etag } = await todo.create({ Name: "Buy milk ✓", Done: false });
equal((await todo.get(id)).item.Name, "Buy milk ✓");
await todo.update({ ...item, Done: true }, { ifMatch: etag });
const stale = await todo.update(item, { ifMatch: etag }).catch((error: unknown) => error);
equal(isTodoError(stale, "PreconditionFailedError") && stale.current?.Done, true);
equal((await todo.change(id, (read) => ({ ...read, Done: false }))).item.Done, false);
equal((await todo.list()).length, 1);
for await (const { Name } of todo.items()) equal(Name, "Buy milk ✓");
const small = new TodoClient(origin, { maxResponseBytes: 10 });
equal(isTodoError(await small.list().catch((error: unknown) => error), "ResponseTooLargeError"), true);

const controller = new AbortController();
controller.abort();
const aborted: unknown = await todo.list({ signal: controller.signal }).catch((error: unknown) => error);
equal(aborted instanceof Error && aborted.name, "AbortError");

const watching = new AbortController();
const kinds: string[] = [];
const states: string[] = [];
const watched = (async () => {
  const options = { signal: watching.signal, pollMs: 20, onState: ({ kind }: { kind: string }) => states.push(kind) };
  for await (const { kind } of todo.watch(options)) kinds.push(kind);
})().catch((error: unknown) => error);
await until(() => kinds.length === 1);
const second = await todo.create({ Name: "Two" });
await until(() => kinds.length === 2);
await todo.remove(second.id);
await until(() => kinds.length === 3);
watching.abort();
equal(((await watched) as Error).name, "AbortError");
equal(`${kinds} ${states}`, "snapshot,changed,removed polling");

const live = noting(todo.liveList({ pollMs: 20 }));
const unsubscribe = live.subscribe(() => {});
await until(() => live.getSnapshot().items.length === 1);
live.reconnect();
await todo.change(id, (read) => ({ ...read, Name: "Buy bread" }));
await until(() => live.getSnapshot().items[0]?.item.Name === "Buy bread");
equal(live.getSnapshot().status.connection.kind, "polling");
unsubscribe();

const values = new Map<string, string>();
const storage = {
  getItem: async (key: string) => values.get(key) ?? null,
  setItem: async (key: string, value: string) => void values.set(key, value),
  removeItem: async (key: string) => void values.delete(key),
};
const list = noting(new OfflineList(new TodoClient(origin, { newId, retry: { limit: 0 } }), { storage, pollMs: 20 }));
await list.ready;
equal(list.getSnapshot().items.length, 0);
const stop = list.subscribe(() => {});
const added = await list.add({ Name: "Offline", Done: false });
await list.change(added, (read) => ({ ...read, Done: true }));
await until(() => list.getSnapshot().pending.length === 0 && list.getSnapshot().items.length === 2);
equal((await todo.get(added)).item.Done, true);
await list.remove(id);
await until(() => list.getSnapshot().items.length === 1 && list.getSnapshot().pending.length === 0);
await list.sync();
list.retry();
await list.sendAnyway();
await list.discard();
await list.resolve(added, "mine").then(
  () => ok(false, "there is no conflict"),
  () => {},
);
equal(list.getSnapshot().status.kept, true);
stop();
await list.forget();
await list.close();

// Every public method was called.
for (const instance of [todo, live, list]) {
  const { prototype, name: className } = instance.constructor as typeof TodoClient;
  const internal = ["constructor", "requester"];
  for (const name of [...Object.getOwnPropertyNames(prototype), ...Object.keys(instance)])
    ok(internal.includes(name) || called.has(`${className}.${name}`), `${className}.${name} was not called`);
}
console.log("complete");
process.exit(0);
