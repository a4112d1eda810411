// A client that creates, updates, deletes and reads items of one list, and compares what it is told with what really
// happened. It also records its operations, for a checker that knows nothing about the store.

import type { ListKey } from "../../src/collection/list-key.ts";
import { parseToken, type Token } from "../../src/items/token.ts";
import type { ItemOperation, ListOperation } from "../linearizability/history.ts";
import { itemsOf } from "./feed-reader.ts";
import { type Interval, type Ledger, Violation } from "./ledger.ts";
import type { SeededRandom } from "./random.ts";
import type { SimulatedAnswer, SimulatedInstance, SimulatedRequest } from "./simulated-instance.ts";
import { addressOf } from "./store-state.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** What all users of a list share. */
export interface UserOptions {
  readonly list: ListKey;
  readonly time: VirtualTime;
  readonly random: SeededRandom;
  readonly ledger: Ledger;
  readonly pickInstance: () => SimulatedInstance;
  /**
   * The answered reads of single items, and all writes, by all users. A write that was refused is replaced by
   * undefined, because it did not happen.
   */
  readonly operations: (ItemOperation | undefined)[];
  readonly lists: ListOperation[];
  /** Returns another number each time, which makes the content of each write unique. */
  readonly nextNumber: () => number;
}

const ids = Array.from({ length: 7 }, (_, index) => `00000000-0000-4000-8000-00000000000${index}`);
/** How many lists a user remembers. The user can ask what has changed since any of them. */
const remembered = 4;

type Asked = Interval & { readonly instance: SimulatedInstance; readonly answer: SimulatedAnswer | undefined };

export class SimulatedUser {
  readonly #options: UserOptions;
  readonly #tags = new Map<string, string>();
  readonly #lists: { readonly token: Token; readonly body: string }[] = [];

  constructor(options: UserOptions) {
    this.#options = options;
  }

  get #path(): string {
    return `${addressOf(this.#options.list)}/api/todoitems`;
  }

  async act(): Promise<void> {
    const { random } = this.#options;
    const id = random.pick(ids);
    const chance = random.next();
    if (chance < 0.2) await this.#read(id);
    else if (chance < 0.32) await this.list(this.#options.pickInstance());
    else if (chance < 0.34) await this.#readNames();
    else if (chance < 0.46) await this.#readChanges();
    else if (chance < 0.62) await this.#write("create", id);
    else if (chance < 0.75) await this.#write("update", id);
    else if (chance < 0.87) await this.#write("update", id, this.#tags.get(id));
    else await this.#delete(id);
  }

  /** Returns whether the instance has answered with a list. */
  async list(instance: SimulatedInstance): Promise<boolean> {
    const { ledger, lists, list } = this.#options;
    const asked = await this.#ask({ method: "GET", path: this.#path }, instance);
    const { sentAt, answeredAt, answer } = asked;
    if (answer?.status !== 200) return false;
    const token = tokenOf(answer);
    ledger.checkList(list, token, answer.body, asked);
    ledger.checkMeaning(instance.name, "list", token, answer.body);
    lists.push({ sentAt, answeredAt, version: token.version, body: answer.body, items: itemsOf(answer.body) });
    this.#lists.push({ token, body: answer.body });
    if (this.#lists.length > remembered) this.#lists.shift();
    return true;
  }

  /** The names of the lists that have items. */
  async #readNames(): Promise<void> {
    const asked = await this.#ask({ method: "GET", path: "/lists" });
    if (asked.answer?.status !== 200) return;
    const found = JSON.parse(asked.answer.body) as { readonly name: string }[];
    this.#options.ledger.checkNames(
      found.map(({ name }) => name),
      asked,
    );
  }

  async #read(id: string): Promise<void> {
    const { ledger, operations, list } = this.#options;
    const asked = await this.#ask({ method: "GET", path: `${this.#path}/${id}` });
    const { sentAt, answeredAt, answer } = asked;
    if (answer?.status === 404) {
      ledger.checkItem(list, id, undefined, undefined, asked);
      operations.push({ kind: "read", id, seen: undefined, sentAt, answeredAt });
    }
    if (answer?.status !== 200) return;
    const token = this.#see(id, answer, answer.body, asked.instance);
    ledger.checkItem(list, id, token, answer.body, asked);
    const { n } = JSON.parse(answer.body) as { n: number };
    operations.push({ kind: "read", id, seen: { n, version: token.version }, sentAt, answeredAt });
  }

  async #write(kind: "create" | "update", id: string, ifMatch?: string): Promise<void> {
    const { ledger, nextNumber, list } = this.#options;
    const n = nextNumber();
    const body = `{"ID":"${id}","n":${n}}`;
    const headers = ifMatch === undefined ? {} : { "if-match": ifMatch };
    const method = kind === "create" ? "POST" : "PUT";
    const condition = ifMatch === undefined ? {} : { condition: parseToken(ifMatch)?.version ?? -1 };
    const record = this.#record({ kind, id, n, ...condition });
    const asked = await this.#ask({ method, path: this.#path, body, headers });
    const { answer, instance } = asked;
    if (isRefusal(answer)) ledger.refuse(body);
    if (answer?.status === 412) this.#see(id, answer, currentOf(answer), instance);
    if (!answer || outcomeOf(answer) !== "done") return record(asked);
    const token = this.#see(id, answer, body, instance);
    ledger.checkDone(list, id, token, body, asked);
    record(asked, { version: token.version });
  }

  async #delete(id: string): Promise<void> {
    const { ledger, list } = this.#options;
    const record = this.#record({ kind: "delete", id });
    const asked = await this.#ask({ method: "DELETE", path: `${this.#path}/${id}` });
    if (outcomeOf(asked.answer) === "done") ledger.checkDone(list, id, undefined, null, asked);
    record(asked);
  }

  /**
   * Records a write that is sent now. Call the returned function once the answer has arrived. Without a clear answer,
   * the checker assumes that the write may still happen at any time.
   */
  #record(
    write: { kind: "create" | "update"; id: string; n: number; condition?: number } | { kind: "delete"; id: string },
  ): (asked: Asked, details?: { readonly version: number }) => void {
    const { operations, time } = this.#options;
    const sent = { ...write, sentAt: time.nowMs };
    const index = operations.push({ ...sent, outcome: "unknown", answeredAt: Number.POSITIVE_INFINITY }) - 1;
    return ({ answer, answeredAt }, details) => {
      const outcome = isRefusal(answer) ? "refused" : outcomeOf(answer);
      if (outcome === "refused") operations[index] = undefined;
      else if (outcome !== "unknown") operations[index] = { ...sent, outcome, answeredAt, ...details };
    };
  }

  /**
   * Asks for the changes since an older list. With these changes applied, the list must have the same items as the
   * store.
   */
  async #readChanges(): Promise<void> {
    const { ledger, random, list } = this.#options;
    if (this.#lists.length === 0) return;
    const { token, body } = random.pick(this.#lists);
    const path = `${addressOf(list)}/changes?since=${token.epoch}-${token.version}`;
    const asked = await this.#ask({ method: "GET", path, headers: { accept: "application/json" } });
    if (asked.answer?.status !== 200) return;
    const found = JSON.parse(asked.answer.body) as Token & {
      readonly whole: boolean;
      readonly changes: readonly { readonly version: number; readonly id: string; readonly item: object | null }[];
    };
    const items = new Map(found.whole ? [] : itemsOf(body).map(({ id, json }) => [id, json]));
    for (const { version, id, item } of found.changes) {
      const json = item && JSON.stringify(item);
      // If the answer is the whole store, its changes are not checked here. They are given with the current epoch (the
      // name of the store's history), but some may have been stored in an older one.
      if (!found.whole) ledger.checkChange({ epoch: found.epoch, version }, id, json);
      items.delete(id);
      if (json !== null) items.set(id, json);
    }
    if (ledger.hasLostCommits(found.epoch)) return;
    ledger.checkItems(list, found, [...items.values()], asked);
  }

  /** Notes an item's ETag, and checks that this ETag never stood for anything else. */
  #see(id: string, answer: SimulatedAnswer, body: string, instance: SimulatedInstance): Token {
    const token = tokenOf(answer);
    this.#tags.set(id, answer.etag ?? "");
    this.#options.ledger.checkMeaning(instance.name, id, token, body);
    return token;
  }

  async #ask(request: SimulatedRequest, instance = this.#options.pickInstance()): Promise<Asked> {
    const { time } = this.#options;
    const sentAt = time.nowMs;
    const answer = await instance.request(request);
    if (answer?.status === 500) throw new Violation(`${request.method} ${request.path} was answered with 500`);
    return { instance, answer, sentAt, answeredAt: time.nowMs };
  }
}

function tokenOf({ etag = "" }: SimulatedAnswer): Token {
  const token = parseToken(etag);
  if (!token) throw new Violation(`an answer has the ETag ${etag}`);
  return token;
}

/** True if the answer says that nothing was changed and nothing will be. */
function isRefusal(answer: SimulatedAnswer | undefined): boolean {
  return answer?.status === 503 && answer.body.includes("nothing was changed");
}

/** The current item in the body of a 412 answer. */
function currentOf({ body }: SimulatedAnswer): string {
  return JSON.stringify((JSON.parse(body) as { current: object }).current);
}

function outcomeOf(answer: SimulatedAnswer | undefined) {
  if (answer?.status === 201 || answer?.status === 204) return "done";
  if (answer?.status === 404) return "not-found";
  if (answer?.status === 409) return "id-in-use";
  if (answer?.status === 412) return "condition-failed";
  return "unknown";
}
