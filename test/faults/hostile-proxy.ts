// Offline lists and the real service, with a proxy between them that loses requests and responses, delays them, cuts
// feeds, stores writes twice, sends half of a response, changes ETags, and answers with other people's pages. Each device
// writes fields and items of its own, so its last edits are known, and the service must have exactly them in the end.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { TodoClient } from "../../src/client/index.ts";
import { OfflineList } from "../../src/client/offline.ts";
import { Program } from "../program.ts";
import type { Part, Tally } from "../torture/part.ts";
import type { Random } from "../wire/random.ts";

type Item = Record<string, string> & { ID: string };

const stepsAtOnce = 2_500;
const sharedItems = 5;
const ownItemsMax = 10;

/** What proxies that compress a response make of its ETag. They do that also when all else is well. */
const tagged: readonly ((tag: string) => string | undefined)[] = [
  (tag) => tag,
  (tag) => `W/${tag}`,
  (tag) => tag.replace(/"$/, '-gzip"'),
  () => undefined,
];

/** While `isCalm` returns true, the proxy only passes on. */
async function startProxy(target: string, random: Random, tally: Tally, isCalm: () => boolean) {
  const faults = ["lost", "unanswered", "half", "twice", "page", "slow"];
  const retag = random.pick(tagged);
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "GET", url = "/", headers } = request;
    const pieces = await Array.fromAsync(request as AsyncIterable<Uint8Array>);
    const fault = isCalm() || random.chance(0.8) ? "none" : random.pick(faults);
    if (fault !== "none") tally.faults++;
    if (fault === "lost") return response.destroy();
    if (fault === "page") return response.writeHead(200, { "Content-Type": "text/html" }).end("<h1>Welcome!</h1>");
    if (fault === "slow") await Bun.sleep(random.below(20));
    const ended = new AbortController();
    response.on("close", () => ended.abort());
    const sent = new Headers({ "Content-Type": "application/json", Accept: headers.accept ?? "" });
    if (headers["if-match"]) sent.set("If-Match", headers["if-match"]);
    const body = pieces.length > 0 ? Buffer.concat(pieces) : null;
    const send = () => fetch(target + url, { method, headers: sent, body, signal: ended.signal });
    if (fault === "twice") await (await send()).arrayBuffer();
    const answer = await send();
    if (fault === "unanswered") return response.destroy();
    const tag = answer.headers.get("etag");
    const headersNow = { "Content-Type": answer.headers.get("content-type"), ETag: tag && retag(tag) };
    for (const [name, value] of Object.entries(headersNow)) if (value) response.setHeader(name, value);
    response.writeHead(answer.status).flushHeaders();
    for await (const piece of answer.body ?? []) {
      response.write(fault === "half" ? piece.subarray(0, piece.length / 2) : piece);
      if (fault === "half" || (!isCalm() && url.includes("events") && random.chance(0.05))) return response.destroy();
    }
    return response.end();
  };
  const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

class Device {
  readonly #name: string;
  readonly #random: Random;
  readonly #make: () => OfflineList<Item>;
  /** What this device wants: the fields of items, by ID. Undefined if it has removed its item. */
  readonly wanted = new Map<string, Record<string, string> | undefined>();
  list: OfflineList<Item>;
  #values = 0;

  constructor(name: string, origin: string, random: Random) {
    const values = new Map<string, string>();
    const storage = {
      getItem: async (key: string) => values.get(key),
      setItem: async (key: string, value: string) => void values.set(key, value),
      removeItem: async (key: string) => void values.delete(key),
    };
    this.#name = name;
    this.#random = random;
    const client = new TodoClient<Item>(origin, { retry: { limit: 0 }, timeoutMs: 2_000 });
    this.#make = () => new OfflineList(client, { storage, name, onConflict: () => "mine" });
    this.list = this.#make();
    this.list.subscribe(() => {});
  }

  get own(): string[] {
    return [...this.wanted].flatMap(([id, fields]) => (fields?.["Owner"] === this.#name ? [id] : []));
  }

  async act(shared: readonly string[]): Promise<string | undefined> {
    const { own } = this;
    const roll = this.#random.next();
    if (roll < 0.02) {
      void this.list.close();
      this.list = this.#make();
      this.list.subscribe(() => {});
    } else if (roll < 0.12) this.list.retry();
    else if (roll < 0.22) await Bun.sleep(this.#random.below(4));
    else if (own.length < ownItemsMax && roll < 0.3) {
      const fields = { Owner: this.#name, Name: `${this.#name} ${++this.#values}` };
      this.wanted.set(await this.list.add(fields as unknown as Item), fields);
    } else if (own.length > 0 && roll < 0.35) {
      const id = this.#random.pick(own);
      await this.list.remove(id);
      this.wanted.set(id, undefined);
    } else return this.#change(this.#random.pick([...shared, ...own]));
    return undefined;
  }

  /** Sets a field to a new value, or one to a value that it had before. Says what is wrong with the snapshot then. */
  async #change(id: string): Promise<string | undefined> {
    const [field, value] = this.#random.chance(0.5)
      ? [`${this.#name} done`, this.#random.pick(["yes", "no"])]
      : [`${this.#name} text`, String(++this.#values)];
    if (!this.list.getSnapshot().items.some((entry) => entry.id === id)) return undefined;
    await this.list.change(id, (item) => ({ ...item, [field]: value }));
    this.wanted.set(id, { ...this.wanted.get(id), [field]: value });
    const { items, pending } = this.list.getSnapshot();
    const shown = items.find((entry) => entry.id === id)?.item[field];
    const isConflict = pending.some((edit) => edit.id === id && edit.state === "conflict");
    return shown === value || isConflict ? undefined : `${this.#name} set ${field} to ${value}, and sees ${shown}`;
  }
}

async function run(random: Random, tally: Tally): Promise<void> {
  const program = await Program.start({ args: ["--store", "memory:", "--port", "0"] });
  let isCalm = false;
  const proxy = await startProxy(program.origin, random, tally, () => isCalm);
  const direct = new TodoClient<Item>(program.origin);
  const shared: string[] = [];
  while (shared.length < sharedItems) shared.push((await direct.create({ Name: "shared" } as unknown as Item)).id);
  const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/`;
  const devices = ["ann", "bob", "cem"].map((name) => new Device(name, origin, random));
  try {
    for (let step = 0; step < stepsAtOnce; step++) {
      const wrong = await random.pick(devices).act(shared);
      tally.operations++;
      if (wrong) tally.noteWrong(wrong);
    }
    isCalm = true;
    for (let round = 0; devices.some(({ list }) => list.getSnapshot().pending.length > 0); round++) {
      if (round > 200) return tally.noteWrong(JSON.stringify(devices.map(({ list }) => list.getSnapshot().pending)));
      for (const { list } of devices) list.retry();
      await Bun.sleep(50);
    }
    const items = new Map((await direct.list()).map((item) => [item.ID, item]));
    for (const { wanted } of devices)
      for (const [id, fields] of wanted) {
        const stored = items.get(id);
        if (!fields && stored) tally.noteWrong(`a removed item is there: ${JSON.stringify(stored)}`);
        for (const [name, value] of Object.entries(fields ?? {}))
          if (stored?.[name] !== value) tally.noteLost(`${name}=${value} of ${id}: there is ${JSON.stringify(stored)}`);
      }
    const expected = devices.reduce((sum, { own }) => sum + own.length, sharedItems);
    if (items.size !== expected) tally.noteWrong(`there are ${items.size} items, not ${expected}`);
  } finally {
    await Promise.all(devices.map(({ list }) => list.close()));
    proxy.close();
    proxy.closeAllConnections();
    await program.stop("SIGKILL");
  }
}

export const hostileProxyPart: Part = {
  name: "hostile proxy",
  promise:
    "Offline lists store every edit once in the real service, through a network that loses, delays, cuts, repeats, halves and lies.",
  weight: 4,
  secondsMin: 15,
  async run({ random, tally, goOn }) {
    do await run(random, tally);
    while (goOn());
  },
};
