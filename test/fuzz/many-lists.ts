// Clients of many lists in one store, each with a list of its own, and a model of it that knows nothing of the others.
// If lists belong to users, each user has lists of the same names. Whatever the clients do at the same time, every list
// must be exactly what a service of its own would show: its items, its versions without a gap, its feed and its deltas.
// Names are hostile, and clients try what belongs to other lists.

import { parseToken, type Token } from "../../src/items/token.ts";
import { FeedReader } from "../http/feed-reader.ts";
import type { Tally } from "../torture/part.ts";
import type { Random } from "../wire/random.ts";
import { ItemModel } from "./item-model.ts";
import { itemRequest } from "./item-request.ts";
import { type Send, sendAndCompare } from "./requests.ts";

/** The names of the lists. Some differ only in letter case, or look like something else. */
const listNames = ["", "work", "Work", "0", "a.b-c_d", "constructor", "apis", "lists", "changes", "x".repeat(64)];
/** The names of the lists of each user, if there are several users. */
const listNamesOfUsers = ["", "work", "Work", "0"];
/** Names that are no lists. */
const wrongNames = ["api", "API", "-a", ".a", "_a", "x".repeat(65), "a%2Fb", "a%00", "%E4", "a b", "ä", "a+b", "..."];
/** A list with more items than this is made shorter, so that items are deleted, and lists become empty. */
const itemsMax = 12;

export class ManyLists {
  readonly #clients: ListClient[];
  readonly #users: readonly { readonly send: Send; readonly clients: readonly ListClient[] }[];
  readonly #random: Random;
  readonly #tally: Tally;

  /** `users` send requests, each as another user. If lists belong to nobody, there is one. */
  constructor(users: readonly Send[], random: Random, tally: Tally) {
    this.#random = random;
    this.#tally = tally;
    const names = users.length === 1 ? listNames : listNamesOfUsers;
    this.#users = users.map((send) => ({
      send,
      clients: names.map((name) => new ListClient(name, send, random, tally)),
    }));
    this.#clients = this.#users.flatMap(({ clients }) => clients);
  }

  /** Lets all clients work at the same time. */
  async work(stepsEach: number): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.work(stepsEach, this.#clients)));
  }

  /** Compares everything, while nobody works. */
  async compare(): Promise<void> {
    for (const client of this.#clients) await client.compare();
    for (const { send, clients } of this.#users) await this.#compareNames(send, clients);
  }

  async #compareNames(send: Send, clients: readonly ListClient[]): Promise<void> {
    const expected = clients.filter(({ model }) => model.ids.length > 0).map(({ name }) => ({ name }));
    const names = await (await send("GET", this.#random.pick(["/lists", "/lists/", "/Lists/"]), {})).text();
    const sorted = expected.sort((one, other) => (one.name < other.name ? -1 : 1));
    if (names !== JSON.stringify(sorted)) this.#tally.noteWrong(`the names are ${names}`);
    const path = `/lists/${this.#random.pick(wrongNames)}/api/todoitems`;
    const { status } = await send("GET", path, {});
    if (status !== 404) this.#tally.noteWrong(`${path} is answered with ${status}`);
  }

  /** The service is about to be replaced: feeds end, and are opened again after it. */
  async endFeeds(): Promise<void> {
    for (const client of this.#clients) await client.feed.close();
  }
}

class ListClient {
  readonly name: string;
  readonly model = new ItemModel();
  readonly feed: Follower;
  readonly #send: Send;
  readonly #random: Random;
  readonly #tally: Tally;
  #epoch: string | undefined;
  /** How many changes the list has had. */
  #version = 0;
  /** The list at the state of the last delta, and that state. */
  #mirror = new Map<string, string>();
  #token = "";

  constructor(name: string, send: Send, random: Random, tally: Tally) {
    this.name = name;
    const encoded = random.chance(0.2) ? name.replace("a", "%61") : name;
    const prefix = name === "" ? "" : `/${random.pick(["lists", "LISTS", "Lists"])}/${encoded}`;
    this.#send = (method, path, init) => send(method, `${prefix}${path}`, init);
    this.#random = random;
    this.#tally = tally;
    this.feed = new Follower(this.#send);
  }

  async work(steps: number, others: readonly ListClient[]): Promise<void> {
    for (let step = 0; step < steps && this.#tally.wrong < 10; step++) {
      this.#tally.operations++;
      const way = this.#random.below(20);
      if (way === 0) await this.compare();
      else if (way === 1) await this.#readDelta();
      else if (way === 2) await this.feed.open();
      else if (way === 3) await this.#tryForeign(this.#random.pick(others));
      else await this.#request();
      const [oldest] = this.model.ids;
      if (oldest !== undefined && (this.model.ids.length > itemsMax || this.#random.chance(0.1)))
        await this.#delete(oldest);
    }
  }

  /** Sends a random request. If it changes something, the answer has the next version of this list. */
  async #request(): Promise<void> {
    const request = itemRequest(this.#random, this.model);
    let tag: string | undefined;
    const noting: Send = async (method, path, init) => {
      const response = await this.#send(method, path, init);
      if ([201, 204].includes(response.status)) tag = response.headers.get("etag") ?? undefined;
      return response;
    };
    // Somebody else reads the list at the same time. It may be loaded for them before the write, and must not stay so.
    const reading = this.#random.chance(0.5) ? this.#send("GET", "/api/todoitems/", {}) : undefined;
    const difference = await sendAndCompare(noting, request, this.model);
    await (await reading)?.arrayBuffer();
    this.#tally.count(`answered with ${request.expected.status}`);
    if (difference !== undefined) {
      this.#wrong(
        `${request.method} ${request.path} should be ${request.expected.status}: ${difference.slice(0, 300)}`,
      );
      return;
    }
    if (![201, 204].includes(request.expected.status)) return;
    this.#version++;
    if (tag !== undefined) this.#checkTag(tag);
    if (this.#random.chance(0.3)) await this.compare();
  }

  async #delete(id: string): Promise<void> {
    const { status } = await this.#send("DELETE", `/api/todoitems/${id}`, {});
    if (status !== 204) this.#wrong(`a deletion is answered with ${status}`);
    this.model.delete(id);
    this.#version++;
  }

  async compare(): Promise<void> {
    const response = await this.#send("GET", "/api/todoitems/", { headers: { "Accept-Encoding": "identity" } });
    const text = await response.text();
    if (text !== this.model.list())
      this.#wrong(`the list is ${text.slice(0, 300)} and not ${this.model.list().slice(0, 300)}`);
    this.#checkTag(response.headers.get("etag") ?? "");
    const difference = await this.feed.difference(this.model, `${this.#epoch}-${this.#version}`);
    if (difference !== undefined) this.#wrong(difference);
  }

  /** The epoch of a list never changes, and its versions have no gaps. */
  #checkTag(tag: string): void {
    const token = parseToken(tag.slice(1, -1));
    this.#epoch ??= token?.epoch;
    if (token?.epoch !== this.#epoch || token?.version !== this.#version)
      this.#wrong(`the tag is ${tag} and not "${this.#epoch}-${this.#version}"`);
  }

  async #readDelta(): Promise<void> {
    const response = await this.#send("GET", `/changes/delta?since=${this.#token}`, {});
    const { whole, epoch, version, changes } = (await response.json()) as Delta;
    if (whole) this.#mirror.clear();
    for (const { id, item } of changes)
      if (item === null) this.#mirror.delete(id);
      else this.#mirror.set(id, "");
    this.#token = `${epoch}-${version}`;
    const [ids, expected] = [[...this.#mirror.keys()].sort().join(), this.model.ids.sort().join()];
    if (ids !== expected) this.#wrong(`the deltas lead to ${ids} and not to ${expected}`);
  }

  /** What belongs to another list is as unknown here as what nobody has. */
  async #tryForeign(other: ListClient): Promise<void> {
    const { model, tokenNow } = other;
    if (other === this) return;
    const [theirs] = model.ids;
    const [ours] = this.model.ids;
    if (theirs !== undefined && !this.model.get(theirs)) {
      const { status } = await this.#send("GET", `/api/todoitems/${theirs}`, {});
      if (status !== 404) this.#wrong(`an item of another list is answered with ${status}`);
    }
    const tag = theirs === undefined ? undefined : model.get(theirs)?.etag;
    if (ours !== undefined && tag !== undefined) {
      const init = { headers: { "If-Match": tag } };
      const { status } = await this.#send("DELETE", `/api/todoitems/${ours}`, init);
      if (status !== 412) this.#wrong(`a tag of another list is answered with ${status}`);
    }
    if (tokenNow === undefined) return;
    const response = await this.#send("GET", `/changes/delta?since=${tokenNow}`, {});
    const { whole } = (await response.json()) as Delta;
    if (!whole) this.#wrong("a token of another list is accepted");
  }

  get tokenNow(): string | undefined {
    return this.#epoch === undefined ? undefined : `${this.#epoch}-${this.#version}`;
  }

  #wrong(finding: string): void {
    this.#tally.noteWrong(`list "${this.name}": ${finding}`);
  }
}

interface Delta {
  readonly whole: boolean;
  readonly epoch: string;
  readonly version: number;
  readonly changes: readonly { readonly id: string; readonly item: unknown }[];
}

/** Follows the feed of a list, and knows which items it has. */
class Follower {
  readonly #send: Send;
  #feed: FeedReader | undefined;
  #following: Promise<void> = Promise.resolve();
  #token: Token | undefined;
  #ids = new Set<string>();
  #isLost = true;
  #strangers: string[] = [];

  constructor(send: Send) {
    this.#send = send;
  }

  async open(): Promise<void> {
    if (this.#feed) return;
    if (this.#isLost) await this.#fetchList();
    const response = await this.#send("GET", `/changes?since=${this.#token?.epoch}-${this.#token?.version}`, {});
    if (response.status !== 200) return;
    const feed = new FeedReader(response);
    this.#feed = feed;
    this.#following = this.#follow(feed);
  }

  async close(): Promise<void> {
    await this.#feed?.close();
    await this.#following;
    this.#feed = undefined;
  }

  async #fetchList(): Promise<void> {
    const response = await this.#send("GET", "/api/todoitems", {});
    const items = (await response.json()) as Record<string, string>[];
    this.#ids = new Set(items.map((item) => idOf(item)));
    this.#token = parseToken(response.headers.get("etag")?.slice(1, -1) ?? "");
    this.#isLost = false;
  }

  async #follow(feed: FeedReader): Promise<void> {
    for (let event = await feed.next(); event; event = await feed.next()) {
      if (event.event === "resync") this.#isLost = true;
      const { epoch } = JSON.parse(event.data);
      if (epoch !== undefined && epoch !== this.#token?.epoch) this.#strangers.push(event.data);
      if (event.id !== undefined) this.#token = parseToken(event.id);
      if (event.event !== "change") continue;
      const { id, item, version } = JSON.parse(event.data);
      if (version !== this.#token?.version) this.#strangers.push(event.data);
      if (item === null) this.#ids.delete(id);
      else this.#ids.add(id);
    }
  }

  /** Waits until the feed has caught up. Says how the items then differ from those of the model. */
  async difference(model: ItemModel, token: string): Promise<string | undefined> {
    if (this.#strangers.length > 0) return `the feed has sent ${this.#strangers[0]}`;
    if (!this.#feed || this.#isLost) return undefined;
    const now = () => `${this.#token?.epoch}-${this.#token?.version}`;
    for (let waits = 0; waits < 300 && now() !== token && !this.#isLost; waits++) await Bun.sleep(10);
    if (this.#isLost) return undefined;
    if (now() !== token) return `the feed is at ${now()} and not at ${token}`;
    const [found, expected] = [[...this.#ids].sort().join(), model.ids.sort().join()];
    return found === expected ? undefined : `the feed leads to ${found} and not to ${expected}`;
  }
}

function idOf(item: Readonly<Record<string, string>>): string {
  const [name = ""] = Object.keys(item).filter((key) => key.toLowerCase() === "id");
  return (item[name] ?? "").toLowerCase();
}
