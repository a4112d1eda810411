// Imitates a store on another machine. The collection has to ask the store whether there are new changes. The answers
// take as long as the test says.

import type { Batch, Bookmark, Engine, News, WholeStore } from "../../src/collection/engine.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";

export class RemoteEngine implements Engine {
  readonly store = new MemoryEngine();
  hasNewsResult: false | Promise<boolean> = false;
  questionCount = 0;
  pullCount = 0;
  loadCount = 0;
  /** If this is set, `pull` and `load` answer only after this promise has resolved. */
  arrival: Promise<void> | undefined;
  /** If true, `pull` says that the whole store must be loaded. */
  isFarBehind = false;

  hasNews(): false | Promise<boolean> {
    this.questionCount++;
    return this.hasNewsResult;
  }

  async pull(since: Bookmark): Promise<News | undefined> {
    this.pullCount++;
    const news = this.isFarBehind ? undefined : await this.store.pull(since);
    await this.arrival;
    return news;
  }

  async load(): Promise<WholeStore> {
    this.loadCount++;
    const whole = await this.store.load();
    await this.arrival;
    return whole;
  }

  commit(batch: Batch): Promise<boolean> {
    return this.store.commit(batch);
  }

  close(): Promise<void> {
    return this.store.close();
  }
}
