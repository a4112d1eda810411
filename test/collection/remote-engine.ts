// Imitates a store on another machine. The collection has to ask the store whether there are new changes. The answers
// take as long as the test says.

import type { Batch, Bookmark, Engine, News } from "../../src/collection/engine.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";

export class RemoteEngine implements Engine {
  readonly store = new MemoryEngine();
  hasNewsResult: boolean | Promise<boolean> = false;
  questionCount = 0;
  pullCount = 0;
  /** If this is set, `pull` answers only after this promise has resolved. */
  arrival: Promise<void> | undefined;
  /** If true, `pull` always returns the whole store, as it was when the call began. */
  whole = false;

  hasNews(): boolean | Promise<boolean> {
    this.questionCount++;
    return this.hasNewsResult;
  }

  async pull(since?: Bookmark): Promise<News> {
    this.pullCount++;
    const news = await this.store.pull(this.whole ? undefined : since);
    await this.arrival;
    return news;
  }

  commit(batch: Batch): Promise<void> {
    return this.store.commit(batch);
  }

  close(): Promise<void> {
    return this.store.close();
  }
}
