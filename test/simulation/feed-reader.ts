// A client that follows the change feed. It loses its connection now and then, and goes on at another instance from the
// last event that it received. Whatever happens, its items must be those of the store.

import type { ListKey } from "../../src/collection/list-key.ts";
import { parseToken, type Token } from "../../src/items/token.ts";
import type { StreamBody, StreamSource } from "../../src/wire/message.ts";
import { type Ledger, Violation } from "./ledger.ts";
import type { SeededRandom } from "./random.ts";
import type { SimulatedInstance } from "./simulated-instance.ts";
import { addressOf, viewOf } from "./store-state.ts";
import type { VirtualTime } from "./virtual-time.ts";

export interface FeedReaderOptions {
  /** The list that it follows. */
  readonly list: ListKey;
  readonly time: VirtualTime;
  readonly random: SeededRandom;
  readonly ledger: Ledger;
  readonly pickInstance: () => SimulatedInstance;
  readonly isStormy: () => boolean;
}

interface FeedEvent {
  readonly kind: string;
  readonly token: Token | undefined;
  readonly data: string;
}

const pauseMs = 50;

export class FeedReader {
  readonly #options: FeedReaderOptions;
  #items = new Map<string, string>();
  #token: Token | undefined;
  /** How many changes this reader has received. */
  changeCount = 0;

  constructor(options: FeedReaderOptions) {
    this.#options = options;
  }

  async run(): Promise<never> {
    const { list, time, pickInstance } = this.#options;
    for (;;) {
      const instance = pickInstance();
      const token = this.#token ?? (await this.#fetchList(instance));
      const feed = token && (await instance.feed(list, `${token.epoch}-${token.version}`));
      if (feed) await this.#follow(feed, instance);
      await time.sleep(pauseMs);
    }
  }

  /** How this reader's items differ from the current state of the store. Undefined if they are up to date. */
  difference(): string | undefined {
    const { ledger, list } = this.#options;
    const current = viewOf(ledger.current, list);
    const expected = current.listed.map(({ json }) => json ?? "");
    const found = [...this.#items.values()];
    if (this.#token?.epoch === current.epoch && expected.sort().join() === found.sort().join()) return undefined;
    return `it has ${found} at ${this.#token?.epoch}-${this.#token?.version}, but the list "${list}" has ${expected} at ${current.epoch}-${current.version}`;
  }

  async #fetchList(instance: SimulatedInstance): Promise<Token | undefined> {
    const answer = await instance.request({ method: "GET", path: `${addressOf(this.#options.list)}/api/todoitems` });
    if (answer?.status !== 200) return undefined;
    this.#items = new Map(itemsOf(answer.body).map(({ id, json }) => [id, json]));
    this.#token = parseToken(answer.etag ?? "");
    return this.#token;
  }

  /** Reads the feed until it ends. */
  async #follow(feed: StreamBody, instance: SimulatedInstance): Promise<void> {
    const { time, random, isStormy } = this.#options;
    const over = Promise.withResolvers<void>();
    let isOver = false;
    let source: StreamSource | undefined;
    const leave = () => {
      if (isOver) return;
      isOver = true;
      source?.cancel();
      over.resolve();
    };
    const receive = (bytes: Uint8Array) => {
      const events = isOver || instance.isKilled ? [] : eventsOf(Buffer.from(bytes).toString());
      if (instance.isKilled || !events.every((event) => this.#take(event))) leave();
      else if (!isOver) source?.pull();
    };
    const latencyMs = () => (isStormy() && random.chance(0.05) ? random.between(100, 2_000) : random.between(0, 2));
    source = feed.open({
      write: (bytes) => void time.after(latencyMs(), () => receive(bytes)),
      end: () => void time.after(latencyMs(), leave),
    });
    time.after(random.between(10, 4_000), leave);
    await over.promise;
  }

  /** Returns false if the reader has to fetch the list again. */
  #take({ kind, token, data }: FeedEvent): boolean {
    if (kind === "resync") this.#token = undefined;
    if (kind !== "change") return kind !== "resync";
    if (!token || token.epoch !== this.#token?.epoch || token.version <= this.#token.version) {
      throw new Violation(`a feed reader at ${JSON.stringify(this.#token)} was sent ${JSON.stringify(token)} ${data}`);
    }
    const { id, item } = JSON.parse(data) as { id: string; item: object | null };
    const json = item && JSON.stringify(item);
    this.#options.ledger.checkChange(token, id, json);
    this.#token = token;
    this.changeCount++;
    if (json === null) this.#items.delete(id);
    else this.#items.set(id, json);
    this.#checkComplete(token);
    return true;
  }

  /**
   * The reader must have every change up to the version of its last event. Items that have changed again since then are
   * not compared.
   */
  #checkComplete({ epoch, version }: Token): void {
    const { ledger, list } = this.#options;
    const current = viewOf(ledger.current, list);
    if (current.epoch !== epoch || ledger.hasLostCommits(epoch)) return;
    const changedLater = new Set(current.rows.filter((row) => row.version > version).map(({ id }) => id));
    for (const { id, json } of current.rows) {
      if (json === null || changedLater.has(id)) continue;
      if (this.#items.get(id) !== json)
        throw new Violation(`a feed reader at ${epoch}-${version} has ${this.#items.get(id)} instead of ${json}`);
    }
    const listed = new Set(current.listed.map(({ id }) => id));
    for (const [id, json] of this.#items) {
      if (!listed.has(id) && !changedLater.has(id))
        throw new Violation(`a feed reader at ${epoch}-${version} still has ${json}, which was deleted`);
    }
  }
}

/** The items in the body of a list, each with its JSON text. */
export function itemsOf(body: string): { readonly id: string; readonly n: number; readonly json: string }[] {
  return (JSON.parse(body) as { ID: string; n: number }[]).map((item) => ({
    id: item.ID,
    n: item.n,
    json: JSON.stringify(item),
  }));
}

function eventsOf(text: string): FeedEvent[] {
  return text
    .split("\n\n")
    .filter((block) => block.startsWith("event: "))
    .map((block) => {
      const field = (name: string) =>
        block
          .split("\n")
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2) ?? "";
      return { kind: field("event"), token: parseToken(field("id")), data: field("data") };
    });
}
