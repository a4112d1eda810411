// KeptList: what is on the device fits together at every moment, because the app may end at any of them.

import { expect, test } from "bun:test";
import { Mirror } from "../../src/client/live/mirror.ts";
import { KeptList } from "../../src/client/offline/kept-list.ts";
import type { Edit } from "../../src/client/offline/outbox.ts";
import { ids, item } from "../service.ts";
import { turns } from "../turns.ts";
import { MapStorage } from "./map-storage.ts";

// The feed shows that the edit is stored while the copy is being kept, or while it waits for another write.
test.each([0, 1])(
  "a copy that shows an edit to be stored is kept only after the device knows it (%d)",
  async (writes) => {
    const mirror = new Mirror<string>((json) => json);
    const storage = new MapStorage();
    const { setItem } = storage;
    /** The outbox on the device each time that a copy with the edit was kept. */
    const outboxes: unknown[] = [];
    let writing = Promise.resolve();
    const slow = {
      getItem: (key: string) => storage.getItem(key),
      removeItem: (key: string) => storage.removeItem(key),
      async setItem(key: string, value: string) {
        await writing;
        setItem.call(storage, key, value);
        if (key === "list/copy" && value.includes("e-2")) outboxes.push(storage.getItem("list/outbox"));
      },
    };
    const kept = new KeptList({
      mirror,
      key: "list",
      storage: slow,
      bytesMax: undefined,
      onChange() {},
      reconnect() {},
    });
    await kept.takeOver();
    mirror.apply({ whole: true, items: [], token: "e-1" });
    const edit = (): Edit => {
      return { number: kept.nextNumber(), kind: "add", id: ids.one, mine: item(ids.one), epoch: "e", sent: true };
    };
    await kept.commit(() => [edit()]);

    const gate = Promise.withResolvers<void>();
    writing = gate.promise;
    const before = Array.from({ length: writes }, () => kept.commit(() => [edit()]));
    await turns(3);
    const saved = kept.saveCopy();
    await turns(3);
    mirror.apply({
      whole: false,
      items: [{ id: ids.one, json: item(ids.one), etag: '"e-2"', position: 2 }],
      token: "e-2",
    });
    const heard = kept.commit(() => []);
    gate.resolve();
    await Promise.all([...before, saved, heard]);
    await kept.saveCopy();
    expect(outboxes.every((outbox) => outbox === null)).toBe(true);
    expect(outboxes.length).toBeGreaterThan(0);
  },
);
