// What clients wrote to a service, and what they were told. After a fault, the items that are there are compared with
// this record. An answered write must be there and a refused one must not. A write without an answer is there
// completely or not at all.

import type { Program } from "../program.ts";
import type { Random } from "../wire/random.ts";
import type { Tally } from "./part.ts";

/** The JSON of every item by ID, in the order of the list. */
export type Items = ReadonlyMap<string, string>;

export type Outcome = "stored" | "refused" | "unknown";

export interface Write {
  readonly id: string;
  /** Undefined for a delete. */
  readonly json: string | undefined;
  /** The times are those of a clock that counts the requests and the answers. */
  readonly sentAt: number;
  answeredAt: number;
  outcome: Outcome;
  /** Undefined for a delete, because its answer has no ETag. */
  etag: string | undefined;
}

export class Ledger {
  /** The writes to each item, in the order in which they were sent. An item has at most one write under way. */
  readonly #items = new Map<string, Write[]>();
  #clock = 0;
  /** The address of the list, relative to the service's own. */
  readonly #address: string;

  constructor(address = "") {
    this.#address = address;
  }

  /** A ledger of items that were created before. */
  static of(items: Items, address?: string): Ledger {
    const ledger = new Ledger(address);
    for (const [id, json] of items) {
      const times = { sentAt: ledger.#clock++, answeredAt: ledger.#clock++ };
      ledger.#items.set(id, [{ id, json, ...times, outcome: "stored", etag: undefined }]);
    }
    return ledger;
  }

  get writes(): Write[] {
    return [...this.#items.values()].flat();
  }

  count(outcome: Outcome): number {
    return this.writes.filter((write) => write.outcome === outcome).length;
  }

  /** The items that are there if every write without an answer failed, in the order of their creation. */
  get items(): Items {
    const texts = [...this.#items.keys()].map((id) => [id, this.textOf(id)] as const);
    return new Map(texts.flatMap(([id, json]) => (json === undefined ? [] : [[id, json]])));
  }

  /** An item after the last write that was answered with success. Undefined if it was deleted or never created. */
  textOf(id: string): string | undefined {
    return this.#items.get(id)?.findLast(isStored)?.json;
  }

  /** Creates an item. If a create without an answer is sent again, pass its ID. */
  create(program: Program, characters: number, id: string = crypto.randomUUID()): Promise<Write> {
    return this.#send(program, "POST", id, this.#text(id, characters));
  }

  update(program: Program, id: string, characters: number): Promise<Write> {
    return this.#send(program, "PUT", id, this.#text(id, characters));
  }

  delete(program: Program, id: string): Promise<Write> {
    return this.#send(program, "DELETE", id, undefined);
  }

  /** The number makes each text unique, so that a text that is found says which write it comes from. */
  #text(id: string, characters: number): string {
    return `{"ID":"${id}","n":${this.#clock},"Notes":"${"x".repeat(characters)}"}`;
  }

  async #send(program: Program, method: string, id: string, json: string | undefined): Promise<Write> {
    const own = this.#items.get(id) ?? [];
    // A create that is sent again has the same text.
    const text = method === "POST" ? (own[0]?.json ?? json) : json;
    const never = Number.POSITIVE_INFINITY;
    const write: Write = {
      ...{ id, json: text, sentAt: this.#clock++, answeredAt: never },
      ...{ outcome: "unknown", etag: undefined },
    };
    const isRepeated = own.length > 0;
    this.#items.set(id, [...own, write]);
    const path = `${this.#address}/api/todoitems/${id}`;
    const response = await (text === undefined
      ? program.fetch(path, { method })
      : program.send(method, path, text)
    ).catch(() => undefined);
    if (!response) return write;
    const body = await response.text();
    write.answeredAt = this.#clock++;
    write.etag = response.headers.get("etag") ?? undefined;
    write.outcome = outcomeOf(`${method} ${path}`, response.status, body, method === "POST" && isRepeated);
    if (write.outcome === "unknown") write.answeredAt = never;
    return write;
  }

  /**
   * Compares the items that are there with what clients were told. `isAnswered` says which writes count as answered, if
   * those were not all of them when the fault happened.
   */
  check(found: Items, tally: Tally, isAnswered: (write: Write) => boolean = isStored): void {
    for (const [id, writes] of this.#items) {
      const last = writes.findLastIndex(isAnswered);
      const later = writes.slice(last + 1).filter(({ outcome }) => outcome !== "refused");
      const possible = [writes[last]?.json, ...later.map(({ json }) => json)];
      const json = found.get(id);
      if (possible.includes(json)) continue;
      const text = `${id} is ${json?.slice(0, 200)} instead of ${possible.map((one) => one?.slice(0, 200)).join(" or ")}`;
      if (writes.slice(last + 1).some((write) => write.outcome === "refused" && write.json === json))
        tally.noteWrong(`a refused write is there: ${text}`);
      else if (json === undefined || writes.some((write) => write.json === json))
        tally.noteLost(`an answered write is lost: ${text}`);
      else tally.noteWrong(`nobody wrote this: ${text}`);
    }
    for (const id of found.keys()) if (!this.#items.has(id)) tally.noteWrong(`nobody created ${id}`);
    this.#checkOrder(found, tally);
  }

  /** An item stands before all items whose creation began after its own was answered. */
  #checkOrder(found: Items, tally: Tally): void {
    let latestSent = 0;
    for (const id of found.keys()) {
      const created = this.#items.get(id)?.find(({ outcome }) => outcome !== "refused");
      if (!created) continue;
      if (created.answeredAt < latestSent) tally.noteWrong(`${id} stands behind an item that was created after it`);
      latestSent = Math.max(latestSent, created.sentAt);
    }
  }

  /** Decides the writes without an answer: what is not there after a restart must never come back. */
  settle(found: Items): void {
    for (const [id, writes] of this.#items) {
      const open = writes.filter(({ outcome }) => outcome === "unknown");
      const happened = open.findLast(({ json }) => json === found.get(id));
      for (const write of open) {
        write.outcome = write === happened ? "stored" : "refused";
        write.answeredAt = this.#clock++;
      }
    }
  }
}

/** A client with items of its own, which sends one write after another. So it knows the state of its items. */
export class Writer {
  readonly #ledger: Ledger;
  readonly #random: Random;
  #own: string[] = [];
  /** Its writes, in order. */
  readonly writes: Write[] = [];

  constructor(ledger: Ledger, random: Random) {
    this.#ledger = ledger;
    this.#random = random;
  }

  /** Sends a random create, update or delete. Most items are small. Some are larger than a page of the store. */
  async write(program: Program): Promise<Write> {
    const random = this.#random;
    this.#own = this.#own.filter((id) => this.#ledger.textOf(id) !== undefined);
    const id = this.#own.length > 0 && random.chance(0.5) ? random.pick(this.#own) : undefined;
    const characters = random.chance(0.05) ? 12_000 : random.below(600);
    const write = await this.#choose(program, id, characters);
    this.writes.push(write);
    if (id === undefined) this.#own.push(write.id);
    return write;
  }

  #choose(program: Program, id: string | undefined, characters: number): Promise<Write> {
    if (id === undefined) return this.#ledger.create(program, characters);
    return this.#random.chance(0.6) ? this.#ledger.update(program, id, characters) : this.#ledger.delete(program, id);
  }
}

function isStored({ outcome }: Write): boolean {
  return outcome === "stored";
}

/** What an answer says about a write. A create that was sent again and is refused with 409 was stored the first time. */
function outcomeOf(request: string, status: number, body: string, isRepeated: boolean): Outcome {
  if (status === 201 || status === 204 || (status === 409 && isRepeated)) return "stored";
  if (status === 503 && body.includes("nothing was changed")) return "refused";
  if (status === 503 && body.includes("not known whether")) return "unknown";
  throw new Error(`${request} was answered with ${status} ${body}`);
}

/** The elements of a list, by ID. No item of a ledger contains the separator. */
export function itemsOf(list: string): Items {
  const texts = list === "[]" ? [] : list.slice(1, -1).split(/(?<=\}),(?=\{)/);
  return new Map(texts.map((json) => [String(JSON.parse(json).ID), json]));
}
