// What the tests of the client share: a service in this process behind a network that fails on demand, and how they
// look at lists. `afterEach(closeAll)` closes what a test has opened.

import { expect } from "bun:test";
import { type LiveConnection, type LiveList, TodoClient, type TodoItem } from "../../src/client/index.ts";
import type { OfflineList } from "../../src/client/offline.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { eventually } from "../eventually.ts";
import { Network } from "../page/network.ts";
import { Service, type ServiceOptions } from "../service.ts";

/** What ends with the test, the last first. */
export const closes: (() => unknown)[] = [];

export async function closeAll(): Promise<void> {
  for (const close of closes.splice(0).reverse()) await close();
}

export async function openService(options: ServiceOptions = {}, engine = new MemoryEngine()) {
  const service = await Service.on(engine, options);
  closes.push(() => service.store.close());
  const network = new Network(service);
  return { service, network, todo: new TodoClient("http://localhost/", { fetch: network.fetch }) };
}

type List = LiveList<TodoItem> | OfflineList<TodoItem>;

export const names = (list: List) => list.getSnapshot().items.map((entry) => entry.item.Name);
export const kind = (list: List) => list.getSnapshot().status.connection.kind;
export const untilKind = (list: List, wanted: LiveConnection["kind"]) =>
  eventually(() => expect(kind(list)).toBe(wanted));

/** Subscribes until the end of the test, and waits until the list has arrived. */
export async function follow(list: List): Promise<() => void> {
  const unsubscribe = list.subscribe(() => {});
  closes.push(unsubscribe);
  await eventually(() => ["live", "polling"].includes(kind(list)));
  return unsubscribe;
}

/** Replaces a global value until the end of the test. */
export function setGlobal(name: string, value: unknown): void {
  const before = Object.getOwnPropertyDescriptor(globalThis, name);
  Object.defineProperty(globalThis, name, { value, configurable: true });
  closes.unshift(() =>
    before ? Object.defineProperty(globalThis, name, before) : Reflect.deleteProperty(globalThis, name),
  );
}
