// One simulation: three instances on one simulated PostgreSQL, with users and feed readers. Storms (times with many
// faults) alternate with times in which everything must recover. Everything follows from the seed, so a simulation that
// fails can be repeated exactly.

import { type ListKey, listEpoch } from "../../src/collection/list-key.ts";
import { check } from "../linearizability/checker.ts";
import { Faults } from "./faults.ts";
import { FeedReader } from "./feed-reader.ts";
import { Ledger, Violation } from "./ledger.ts";
import { SeededRandom } from "./random.ts";
import { SimulatedNetwork } from "./simulated-client.ts";
import { SimulatedDatabase } from "./simulated-database.ts";
import { SimulatedInstance } from "./simulated-instance.ts";
import { SimulatedUser, type UserOptions } from "./simulated-user.ts";
import { listNames, viewOf } from "./store-state.ts";
import { VirtualTime } from "./virtual-time.ts";

export interface SimulationReport {
  readonly stepCount: number;
  /** True if the checker could judge the history of operations, and found it linearizable. */
  readonly isLinearizable: boolean;
  readonly operationCount: number;
  readonly changeCount: number;
  readonly failoverCount: number;
  readonly virtualSeconds: number;
}

const instanceCount = 3;
/** With few users, an instance often commits without having missed anything. */
const userCounts = [2, 7, 7] as const;
/** Each of them follows another list. */
const readerCount = 3;
/** After a storm, everything must work again within this time. */
const recoveryMs = 90_000;
/**
 * The history of operations is checked only if no item has more writes with an unknown outcome than this. Each such
 * write doubles the checker's work.
 */
const unknownMax = 6;

export class Simulation {
  readonly #random: SeededRandom;
  readonly #time: VirtualTime;
  readonly #faults: Faults;
  readonly #ledger: Ledger;
  readonly #database: SimulatedDatabase;
  /** What all instances in this simulation use in place of the client library of PostgreSQL. */
  readonly network: SimulatedNetwork;
  #running: SimulatedInstance[] = [];
  /** What users have done to each list, and seen of it. */
  readonly #histories = new Map(
    listNames.map((list): [ListKey, Pick<UserOptions, "operations" | "lists">] => [
      list,
      { operations: [], lists: [] },
    ]),
  );
  readonly #readers: FeedReader[] = [];
  /** In half of the simulations, failovers can lose commits. Linearizability is checked only in the other half. */
  readonly #losesCommits: boolean;
  /** Instances that have seen commits that were lost. They must give the store a new epoch, the ID of its history. */
  readonly #witnesses: { readonly instance: SimulatedInstance; readonly epoch: string }[] = [];
  #failoverCount = 0;
  #startedCount = 0;
  #busyCount = 0;
  #number = 0;
  #violation: unknown;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    this.#time = new VirtualTime(this.#random);
    this.#faults = new Faults(this.#random, this.#time);
    this.#ledger = new Ledger(this.#time);
    this.#database = new SimulatedDatabase(this.#time, this.#faults, this.#ledger);
    this.network = new SimulatedNetwork(this.#database, this.#random);
    this.#losesCommits = this.#random.chance(0.5);
    this.#database.beforeStatement = (text) => this.#strike(text);
  }

  get stepCount(): number {
    return this.#time.stepCount;
  }

  /** Throws a `Violation` if the service breaks a promise. */
  async run(steps: number): Promise<SimulationReport> {
    this.#time.install();
    const onRejection = (error: unknown) => this.#fail(error);
    process.on("unhandledRejection", onRejection);
    void this.#direct().catch((error: unknown) => this.#fail(error));
    await this.#time.run(() => this.#violation === undefined && this.#time.stepCount < steps);
    process.off("unhandledRejection", onRejection);
    if (this.#violation === undefined && this.#time.stepCount < steps) {
      this.#fail(new Violation("nothing is scheduled any more: somebody waits forever"));
    }
    if (this.#violation !== undefined) throw this.#violation;
    return {
      isLinearizable: this.#checkHistories(),
      stepCount: this.#time.stepCount,
      operationCount: [...this.#histories.values()].reduce(
        (sum, { operations, lists }) => sum + operations.length + lists.length,
        0,
      ),
      changeCount: this.#readers.reduce((sum, { changeCount }) => sum + changeCount, 0),
      failoverCount: this.#failoverCount,
      virtualSeconds: this.#time.nowMs / 1_000,
    };
  }

  /**
   * Throws a `Violation` if the history of a list is not linearizable. Returns false if a history cannot be checked: if
   * failovers can lose commits, or if too many outcomes are unknown.
   */
  #checkHistories(): boolean {
    if (this.#losesCommits) return false;
    return [...this.#histories.values()].every((history) => {
      const operations = history.operations.filter((operation) => operation !== undefined);
      const unknown = operations.filter((operation) => "outcome" in operation && operation.outcome === "unknown");
      const counts = Map.groupBy(unknown, ({ id }) => id)
        .values()
        .map(({ length }) => length);
      if (Math.max(0, ...counts) > unknownMax) return false;
      const problem = check({ operations, lists: history.lists });
      if (problem !== undefined) throw new Violation(problem);
      return true;
    });
  }

  #fail(error: unknown): void {
    this.#violation ??= error;
  }

  async #direct(): Promise<void> {
    for (let count = 0; count < instanceCount; count++) await this.#startInstance();
    const pickInstance = () => this.#random.pick(this.#running);
    const shared = { time: this.#time, random: this.#random, ledger: this.#ledger, pickInstance };
    const nextNumber = () => ++this.#number;
    const users = Array.from({ length: this.#random.pick(userCounts) }, () =>
      Array.from(this.#histories, ([list, history]) => new SimulatedUser({ ...shared, ...history, list, nextNumber })),
    );
    for (let count = 0; count < readerCount; count++) {
      const list = listNames[count % listNames.length] ?? "";
      const reader = new FeedReader({ ...shared, list, isStormy: () => this.#faults.isStormy });
      this.#readers.push(reader);
      void reader.run().catch((error: unknown) => this.#fail(error));
    }
    for (;;) {
      const untilMs = this.#time.nowMs + this.#random.between(500, 6_000);
      for (const user of users) void this.#use(user, untilMs).catch((error: unknown) => this.#fail(error));
      await this.#storm(untilMs);
      await this.#recover(users);
    }
  }

  /** Lets a user work until a certain time, each time in another list. */
  async #use(user: readonly SimulatedUser[], untilMs: number): Promise<void> {
    this.#busyCount++;
    while (this.#time.nowMs < untilMs) {
      await this.#random.pick(user).act();
      await this.#time.sleep(this.#random.chance(0.3) ? 0 : this.#random.between(0, 40));
    }
    this.#busyCount--;
  }

  async #storm(untilMs: number): Promise<void> {
    this.#faults.isStormy = true;
    while (this.#time.nowMs < untilMs) {
      await this.#time.sleep(this.#random.between(0, 500));
      const chance = this.#random.next();
      if (chance < 0.5) this.network.cut();
      else if (chance < 0.6) this.#faults.beSilent(this.#outageMs());
      else if (chance < 0.7) this.#faults.goAway(this.#outageMs());
      else if (chance < 0.85) await this.#replaceInstance();
      else this.#failOver();
    }
    this.#faults.isStormy = false;
  }

  /** The length of an outage. It is usually short, and sometimes longer than a commit may take. */
  #outageMs(): number {
    return this.#random.chance(0.1) ? this.#random.between(8_000, 16_000) : this.#random.between(50, 2_000);
  }

  /**
   * Sometimes fails over before a statement. Some defects show only if the server fails between two particular
   * statements.
   */
  #strike(text: string): void {
    const chance = /todoitems\.(history|moment)/.test(text) ? 0.03 : 0.002;
    if (this.#faults.isStormy && this.#random.chance(chance)) this.#failOver();
  }

  #failOver(): void {
    const commits = this.#losesCommits ? this.#random.whole(0, 3) : 0;
    const state = this.#ledger.ancestor(commits);
    const { epoch } = this.#ledger.current;
    for (const instance of this.#running) {
      const { store } = instance;
      const isAhead = (list: ListKey) => {
        const { bookmark } = store.list(list);
        return bookmark.epoch === listEpoch(epoch, list) && bookmark.version > viewOf(state, list).version;
      };
      const hasSeen = (store.state.epoch === epoch && store.state.clock > state.version) || listNames.some(isAhead);
      if (hasSeen && epoch === state.epoch) this.#witnesses.push({ instance, epoch });
    }
    this.#failoverCount++;
    if (this.#random.chance(0.5)) this.#faults.goAway(this.#random.between(0, 500));
    this.#database.failOver(state);
  }

  async #replaceInstance(): Promise<void> {
    const killed = this.#random.pick(this.#running);
    this.#running = this.#running.filter((instance) => instance !== killed);
    this.network.kill(killed.name);
    killed.kill();
    await this.#startInstance();
  }

  async #startInstance(): Promise<void> {
    for (;;) {
      const name = `instance-${++this.#startedCount}`;
      const instance = await SimulatedInstance.start(name, (defect) => this.#fail(defect));
      if (instance) this.#running.push(instance);
      if (instance) return;
      await this.#time.sleep(100);
    }
  }

  /** Once the storm is over, what the storm delayed must happen within a time limit. */
  async #recover([user = []]: readonly (readonly SimulatedUser[])[]): Promise<void> {
    const giveUpAtMs = this.#time.nowMs + recoveryMs;
    const eventually = async (what: string, problem: () => Promise<string | undefined> | string | undefined) => {
      for (;;) {
        const found = await problem();
        if (found === undefined) return;
        if (this.#time.nowMs > giveUpAtMs) throw new Violation(`${what}: ${found}`);
        await this.#time.sleep(100);
      }
    };
    await eventually("users still wait after the storm", () =>
      this.#busyCount > 0 ? `${this.#busyCount} of them` : undefined,
    );
    for (const instance of this.#running)
      for (const inList of user)
        await eventually("an instance does not recover", async () =>
          (await inList.list(instance)) ? undefined : instance.name,
        );
    for (const { instance, epoch } of this.#witnesses.splice(0)) {
      if (instance.isKilled || this.#ledger.current.epoch !== epoch) continue;
      throw new Violation(`${instance.name} had seen commits that were lost, but the epoch is still ${epoch}`);
    }
    if (this.#ledger.hasLostCommits(this.#ledger.current.epoch)) return;
    for (const reader of this.#readers) await eventually("a feed reader is wrong", () => reader.difference());
  }
}
