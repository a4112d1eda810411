import { expect, test } from "bun:test";
import type { Batch, ListPage, StoreState } from "../../src/collection/engine.ts";
import type { ListKey } from "../../src/collection/list-key.ts";
import { RemoteEngine } from "../collection/remote-engine.ts";
import { ids, item, Service } from "../service.ts";

/** A store that becomes another one, with another epoch, right after each commit. */
class ReplacedStore extends RemoteEngine {
  onCommit = async () => {};
  epoch: string | undefined;

  override async commit(batch: Batch): Promise<boolean> {
    const isStored = await super.commit(batch);
    await this.onCommit();
    return isStored;
  }

  override async state(): Promise<StoreState> {
    const state = await super.state();
    return { ...state, epoch: this.epoch ?? state.epoch };
  }

  override async load(list: ListKey): Promise<ListPage> {
    const page = await super.load(list);
    return { ...page, storeEpoch: this.epoch ?? page.storeEpoch };
  }
}

test("the tag of a write names the history that it was stored in, even if the store is replaced before the response", async () => {
  const engine = new ReplacedStore();
  const service = await Service.on(engine);
  const { epoch } = service.collection;
  engine.onCommit = async () => {
    engine.epoch = "replaced";
    engine.isFarBehind = true;
    engine.hasNewsResult = Promise.resolve(true);
    await service.list();
  };
  const response = await service.create(item(ids.one));
  expect(service.collection.epoch).toBe("replaced");
  expect(response.headers.get("etag")).toBe(`"${epoch}-1"`);
});
