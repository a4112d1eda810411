// What really happened to the simulated store: every state that was current, and when. Everything that clients are told
// is compared with this record. The first contradiction ends the simulation.

import { type ListKey, listEpoch } from "../../src/collection/list-key.ts";
import { formatToken, type Token } from "../../src/items/token.ts";
import { type ListView, listNames, type Row, type StoreState, viewOf } from "./store-state.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** The service has broken a promise. */
export class Violation extends Error {
  override readonly name = "Violation";
}

interface Period {
  readonly state: StoreState;
  readonly sinceMs: number;
  /** The rows that were new in this state. Empty after a failover. */
  readonly added: readonly Row[];
  readonly before: StoreState;
}

/** The time between a request and its answer. */
export interface Interval {
  readonly sentAt: number;
  readonly answeredAt: number;
}

export class Ledger {
  readonly #time: VirtualTime;
  readonly #periods: Period[] = [];
  /** The states that led to the current one. A failover drops the states that were lost. */
  #branch: Period[] = [];
  /**
   * The epochs (names of histories of the store) in which a failover has lost commits. In such an epoch, a token (an
   * epoch and a version) can stand for two states. The epochs of all lists are here, too.
   */
  readonly #cutEpochs = new Set<string>();
  /** The texts of the writes that were answered with "nothing was changed". */
  readonly #refused = new Set<string>();
  /**
   * The content that was seen under each token (an epoch and a version). It is kept for each instance, and once for all
   * instances together.
   */
  readonly #meanings = new Map<string, string>();
  /**
   * The rows that were stored under each token (an epoch and a version). A token has several rows only after a failover
   * that lost commits.
   */
  readonly #stored = new Map<string, Row[]>();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  get current(): StoreState {
    return this.#last.state;
  }

  /** The state that the store had this many commits ago. The first state if there were fewer commits. */
  ancestor(commits: number): StoreState {
    return (this.#branch.at(-1 - commits) ?? this.#branch[0] ?? this.#last).state;
  }

  /** True if a failover has lost commits of this epoch (the name of the history of the store, or of a list). */
  hasLostCommits(epoch: string): boolean {
    return this.#cutEpochs.has(epoch);
  }

  becomes(state: StoreState): void {
    const before = this.#periods.at(-1)?.state ?? state;
    const added = state.rows.filter(({ clock }) => clock > before.version);
    for (const row of added) {
      if (row.json !== null && this.#refused.has(row.json)) {
        throw new Violation(`a write was stored after its client was told that nothing was changed: ${row.json}`);
      }
      const list = state.lists.find(({ key }) => key === row.list)?.list ?? "";
      const token = formatToken({ epoch: listEpoch(state.epoch, list), version: row.version });
      this.#stored.set(token, [...(this.#stored.get(token) ?? []), row]);
    }
    const period = { state, sinceMs: this.#time.nowMs, added, before };
    this.#periods.push(period);
    this.#branch.push(period);
  }

  isCutTo(state: StoreState): void {
    if (state.epoch === this.current.epoch && state.version < this.current.version)
      for (const list of listNames) this.#cutEpochs.add(listEpoch(state.epoch, list));
    this.#periods.push({ state, sinceMs: this.#time.nowMs, added: [], before: state });
    this.#branch = this.#branch.slice(0, this.#branch.findLastIndex((period) => period.state === state) + 1);
  }

  /** A list is only right if the store had exactly this list at some time between the request and the answer. */
  checkList(list: ListKey, token: Token, body: string, interval: Interval): void {
    const isRight = this.#views(list, interval).some(
      (view) => view.epoch === token.epoch && view.version === token.version && body === `[${texts(view).join(",")}]`,
    );
    if (!isRight)
      throw new Violation(`the list "${list}" was never ${formatToken(token)} ${body} at the time of this answer`);
  }

  /** Like `checkList`, for items in any order. */
  checkItems(list: ListKey, token: Token, items: readonly string[], interval: Interval): void {
    const found = [...items].sort().join();
    const isRight = this.#views(list, interval).some(
      (view) => view.epoch === token.epoch && view.version === token.version && texts(view).sort().join() === found,
    );
    if (!isRight)
      throw new Violation(
        `the list "${list}" was never ${formatToken(token)} with ${found} at the time of this answer`,
      );
  }

  /** The names of the lists with items are only right if these lists had items at some time in between. */
  checkNames(names: readonly string[], interval: Interval): void {
    const isRight = this.#during(interval).some(({ state }) => {
      const expected = listNames.filter((list) => viewOf(state, list).listed.length > 0);
      return expected.sort().join() === names.join();
    });
    if (!isRight) throw new Violation(`these were never the lists with items at the time of this answer: ${names}`);
  }

  /**
   * An answer about one item is only right if the item was in this state at some time between the request and the
   * answer. `token` and `body` are undefined if the item was not found.
   */
  checkItem(list: ListKey, id: string, token: Token | undefined, body: string | undefined, interval: Interval): void {
    const isRight = this.#views(list, interval).some((view) => {
      const row = view.listed.find((row) => row.id === id);
      if (!row || !token) return row === token;
      return view.epoch === token.epoch && row.version === token.version && row.json === body;
    });
    const shown = token ? `${formatToken(token)} ${body}` : "missing";
    if (!isRight) throw new Violation(`the item ${id} of "${list}" was never ${shown} at the time of this read`);
  }

  /**
   * A write that was answered with success must have been stored between its request and its answer. `token` is
   * undefined for deletes.
   */
  checkDone(list: ListKey, id: string, token: Token | undefined, json: string | null, interval: Interval): void {
    const isStored = this.#during(interval).some(({ state, added, before }) => {
      const view = viewOf(state, list);
      const row = added.findLast((row) => row.id === id && view.rows.includes(row));
      if (!row) return false;
      if (!token) return true;
      if (view.epoch !== token.epoch || token.version <= viewOf(before, list).version) return false;
      // Of several writes to one item in one commit, only the last is stored. So the row may be that of a later write.
      return row.version === token.version ? row.json === json : row.version > token.version;
    });
    if (!isStored) {
      const what = `${json ?? `the deletion of ${id}`}${token ? ` as ${formatToken(token)}` : ""}`;
      throw new Violation(`a client was told that this was stored in "${list}", and it was not: ${what}`);
    }
  }

  /** The client was told that nothing was changed. So the store must not have the write now, nor get it later. */
  refuse(json: string): void {
    const isStored = this.#branch.some(({ added }) => added.some((row) => row.json === json));
    if (isStored) throw new Violation(`a client was told that nothing was changed, but this was stored: ${json}`);
    this.#refused.add(json);
  }

  /**
   * A token (an epoch and a version) must never stand for two contents. If commits of the token's epoch were lost, two
   * instances may give the token different contents. Each of them must still give it only one content. `resource` is an
   * ID, or "list".
   */
  checkMeaning(instance: string, resource: string, token: Token, content: string): void {
    const text = formatToken(token);
    const readers = this.#cutEpochs.has(token.epoch) ? [instance] : [instance, "everybody"];
    for (const reader of readers) {
      const key = `${reader} ${resource} ${text}`;
      const meaning = this.#meanings.get(key) ?? content;
      if (meaning !== content) throw new Violation(`${text} of ${resource} stands for ${meaning} and for ${content}`);
      this.#meanings.set(key, content);
    }
  }

  /** A change that an event or an answer reports must have been stored. */
  checkChange(token: Token, id: string, json: string | null): void {
    const rows = this.#stored.get(formatToken(token)) ?? [];
    if (!rows.some((row) => row.id === id && row.json === json))
      throw new Violation(`the change ${formatToken(token)} of ${id} to ${json} was reported, but never stored`);
  }

  #views(list: ListKey, interval: Interval): ListView[] {
    return this.#during(interval).map(({ state }) => viewOf(state, list));
  }

  #during({ sentAt, answeredAt }: Interval): Period[] {
    const found: Period[] = [];
    for (let index = this.#periods.length - 1; index >= 0; index--) {
      const period = this.#periods[index];
      if (!period) break;
      if (period.sinceMs <= answeredAt) found.push(period);
      if (period.sinceMs < sentAt) break;
    }
    return found;
  }

  get #last(): Period {
    const last = this.#periods.at(-1);
    if (!last) throw new Error("the store has no state yet");
    return last;
  }
}

function texts({ listed }: ListView): (string | null)[] {
  return listed.map(({ json }) => json);
}
