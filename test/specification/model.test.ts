// Random requests agree with a plain Map on every engine: across restarts and, if several processes may share a store,
// through two of them and across crashes.

import { expect, test } from "bun:test";
import { type EngineKind, engineKinds, type TestStore } from "../engines/engine-kinds.ts";
import { fuzzRequests, type Send } from "../fuzz/requests.ts";
import { Service } from "../service.ts";
import { Tally } from "../torture/part.ts";
import { Random } from "../wire/random.ts";

const requestCount = 1_500;
const restartChance = 0.01;
const seed = Math.floor(Math.random() * 2 ** 31);

class System {
  readonly #store: TestStore;
  readonly #kind: EngineKind;
  readonly #random: Random;
  readonly #services: Service[] = [];
  readonly #abandoned: Service[] = [];

  constructor(store: TestStore, kind: EngineKind, random: Random) {
    this.#store = store;
    this.#kind = kind;
    this.#random = random;
  }

  async start(): Promise<void> {
    for (const index of this.#kind.isShared ? [0, 1] : [0])
      this.#services[index] = await Service.on(await this.#store.open());
  }

  async stop(): Promise<void> {
    for (const { collection } of [...this.#services, ...this.#abandoned]) await collection.close();
    await this.#store.dispose();
  }

  readonly send: Send = async (method, path, init) => {
    const index = this.#random.below(this.#services.length);
    if (this.#kind.durable && this.#random.chance(restartChance)) await this.#restart(index);
    const service = this.#services[index];
    if (!service) throw new Error("not started");
    return service.fetch(method, path, init);
  };

  /**
   * A crashed process closes nothing. So after a crash, the old service stays open and is not used any more. The owner of
   * a SQLite file keeps it locked, so that one is closed; test/faults/kill.ts has its crashes.
   */
  async #restart(index: number): Promise<void> {
    const service = this.#services[index];
    if (!service) throw new Error("not started");
    if (this.#kind.isShared && this.#random.chance(0.5)) this.#abandoned.push(service);
    else await service.collection.close();
    this.#services[index] = await Service.on(await this.#store.open());
  }
}

for (const kind of engineKinds)
  test(`${requestCount} random requests agree with a Map [${kind.name}] (seed ${seed})`, async () => {
    const tally = new Tally();
    const random = new Random(seed);
    const system = new System(await kind.createStore(), kind, random);
    await system.start();
    try {
      await fuzzRequests(system.send, random, tally, () => tally.operations < requestCount);
    } finally {
      await system.stop();
    }
    expect(tally.findings).toEqual([]);
  });
