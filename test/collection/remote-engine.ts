// Imitates a store on another machine. The collection has to ask the store whether there are new changes. The answers
// take as long as the test says.

import type {
  Batch,
  Engine,
  ListChanges,
  ListNames,
  ListPage,
  News,
  Plan,
  StoreState,
} from "../../src/collection/engine.ts";
import type { ListKey } from "../../src/collection/list-key.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";

/** A store in memory that several engines share. It remembers every commit, so that it can say what somebody missed. */
export class SharedMemory extends MemoryEngine {
  readonly #commits: { readonly clock: number; readonly lists: readonly ListChanges[] }[] = [];

  override async pull(since: StoreState): Promise<News | undefined> {
    const state = await this.state();
    if (since.epoch !== state.epoch) return undefined;
    const missed = this.#commits.filter(({ clock }) => clock > since.clock);
    return { state, lists: missed.flatMap(({ lists }) => lists) };
  }

  override async commit(batch: Batch): Promise<boolean> {
    const missed = await this.pull(batch.since);
    if (!missed) return false;
    let plan: Plan | undefined;
    const decide = () => {
      plan = batch.decide(missed.lists.length > 0 ? missed : undefined);
      return plan;
    };
    const isStored = await super.commit({ since: missed.state, decide });
    if (isStored && plan) this.#commits.push({ clock: plan.state.clock, lists: plan.lists });
    return isStored;
  }
}

export class RemoteEngine implements Engine {
  store = new SharedMemory();
  hasNewsResult: false | Promise<boolean> = false;
  questionCount = 0;
  pullCount = 0;
  stateCount = 0;
  loadCount = 0;
  /** If this is set, `pull`, `state` and `load` answer only after this promise has resolved. */
  arrival: Promise<void> | undefined;
  /** If true, `pull` says that every list must be loaded again. */
  isFarBehind = false;

  hasNews(): false | Promise<boolean> {
    this.questionCount++;
    return this.hasNewsResult;
  }

  async pull(since: StoreState): Promise<News | undefined> {
    this.pullCount++;
    const news = this.isFarBehind ? undefined : await this.store.pull(since);
    await this.arrival;
    return news;
  }

  async state(): Promise<StoreState> {
    this.stateCount++;
    const state = await this.store.state();
    await this.arrival;
    return state;
  }

  async load(list: ListKey): Promise<ListPage> {
    this.loadCount++;
    const page = await this.store.load(list);
    await this.arrival;
    return page;
  }

  names(owner: string): Promise<ListNames> {
    return this.store.names(owner);
  }

  async bytesOf(owner: string): Promise<number> {
    const bytes = await this.store.bytesOf(owner);
    await this.arrival;
    return bytes;
  }

  commit(batch: Batch): Promise<boolean> {
    return this.store.commit(batch);
  }

  close(): Promise<void> {
    return this.store.close();
  }
}
