// One change feed for several tabs. The service is the real one, in this process. Only the network and the browser's
// locks are simulated.

import { afterEach, expect, test } from "bun:test";
import type { WatchedItem } from "../../src/client/index.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { readFields } from "../../src/page/item-fields.ts";
import { type FeedState, sharedFeed } from "../../src/page/shared-feed.ts";
import { eventually } from "../eventually.ts";
import { ids, item, Service } from "../service.ts";
import { Network } from "./network.ts";

/** Grants one lock at a time, in the order of the requests, as browsers do. */
class Locks {
  #last: Promise<void> = Promise.resolve();

  async request(_name: string, { signal }: { signal: AbortSignal }, work: () => Promise<void>): Promise<void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    const aborted = new Promise<void>((done) => signal.addEventListener("abort", () => done()));
    await Promise.race([before, aborted]);
    if (signal.aborted) {
      void before.then(resolve);
      signal.throwIfAborted();
    }
    await work().finally(resolve);
  }
}

interface Tab {
  readonly names: () => string[];
  readonly state: () => FeedState | undefined;
  readonly close: () => void;
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function open() {
  const service = await Service.on(new MemoryEngine());
  cleanups.push(() => service.collection.close());
  const network = new Network(service);
  const [name, locks] = [`feed ${crypto.randomUUID()}`, new Locks()];
  const openTab = (): Tab => {
    const closing = new AbortController();
    const stored = new Map<string, WatchedItem<string>>();
    let token: string | undefined;
    let state: FeedState | undefined;
    const done = sharedFeed(name, locks)(network.connect(), {
      signal: closing.signal,
      list: () =>
        token === undefined ? undefined : { kind: "snapshot", items: [...stored.values()], version: undefined, token },
      onEvent: (event) => {
        ({ token } = event);
        if (event.kind === "snapshot") {
          stored.clear();
          for (const each of event.items) stored.set(each.id, each);
        } else if (event.kind === "removed") stored.delete(event.id);
        else stored.set(event.id, event);
      },
      onState: (next) => {
        state = next;
      },
    }).catch((error: unknown) => {
      if (!closing.signal.aborted) throw error;
    });
    const close = () => closing.abort();
    cleanups.push(() => done, close);
    const names = () => Array.from(stored.values(), ({ item: json }) => readFields(json).name);
    return { names, state: () => state, close };
  };
  return { service, network, openTab, name };
}

const named = (id: string, text: string) => item(id, `"Name":"${text}"`);

test("a later tab gets the list and every change from the first one, and sends no request", async () => {
  const { service, network, openTab } = await open();
  await service.create(named(ids.one, "One"));
  const first = openTab();
  await eventually(() => first.state()?.kind === "live");
  const before = network.requests.length;
  const second = openTab();
  await eventually(() => second.state()?.kind === "live");
  await service.create(named(ids.two, "Two"));
  await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
  for (const tab of [first, second]) await eventually(async () => expect(tab.names()).toEqual(["Two"]));
  expect([network.requests.length, second.state()]).toEqual([before, first.state()]);
});

test("when the tab that reads the feed is closed, the next one continues from its own list and misses nothing", async () => {
  const { service, network, openTab } = await open();
  const tabs = [openTab(), openTab(), openTab()];
  for (const tab of tabs) await eventually(() => tab.state()?.kind === "live");
  tabs[0]?.close();
  await service.create(named(ids.one, "One"));
  for (const tab of tabs.slice(1)) await eventually(async () => expect(tab.names()).toEqual(["One"]));
  await service.create(named(ids.two, "Two"));
  for (const tab of tabs.slice(1)) await eventually(async () => expect(tab.names()).toEqual(["One", "Two"]));
  // The whole list was read only once.
  expect(network.exchanges).toEqual([
    "/changes/delta 200",
    "/changes/events?since=… 200 events",
    "/changes/delta?since=… 200",
    "/changes/events?since=… 200 events",
  ]);
});

test("a tab that opens while the feed has the list but is not live yet becomes live with it", async () => {
  const { network, openTab } = await open();
  const live = Promise.withResolvers<void>();
  network.feedsAfter = live.promise;
  openTab();
  await eventually(() => network.requests.length === 2);
  const second = openTab();
  await eventually(() => second.state() !== undefined || network.requests.length === 2);
  live.resolve();
  await eventually(() => second.state()?.kind === "live");
});

test("a lost connection is lost for every tab, and a tab that tries again connects all of them", async () => {
  const { service, network, openTab } = await open();
  const [first, second] = [openTab(), openTab()];
  for (const tab of [first, second]) await eventually(() => tab.state()?.kind === "live");
  network.state = "down";
  network.breakFeeds();
  for (const tab of [first, second]) await eventually(() => tab.state()?.kind === "lost");
  network.state = "up";
  await service.create(named(ids.one, "One"));
  const third = openTab();
  for (const tab of [first, second, third]) {
    await eventually(() => tab.state()?.kind === "live");
    await eventually(async () => expect(tab.names()).toEqual(["One"]));
  }
});

test("a tab that hears of a change without having the list asks for the list", async () => {
  const { service, openTab, name } = await open();
  const first = openTab();
  await eventually(() => first.state()?.kind === "live");
  const second = openTab();
  await eventually(() => second.state()?.kind === "live");
  // The list of a closed tab arrives late, and the second tab takes it. The changes that the first tab sends afterwards
  // belong to another list, which the second tab does not have.
  const late = new BroadcastChannel(name);
  late.postMessage({ kind: "event", from: "closed", event: { kind: "snapshot", items: [], version: 0 } });
  await service.create(named(ids.one, "One"));
  await service.create(named(ids.two, "Two"));
  await eventually(async () => expect(second.names()).toEqual(["One", "Two"]));
  late.close();
});
