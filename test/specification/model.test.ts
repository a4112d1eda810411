// Random requests agree with a plain Map on every engine: across restarts and, if several processes may share a store,
// through two of them and across crashes.

import { expect, test } from "bun:test";
import { engineKinds } from "../engines/engine-kinds.ts";
import { fuzzRequests, type Send } from "../fuzz/requests.ts";
import { Tally } from "../torture/part.ts";
import { Random } from "../wire/random.ts";
import { RestartedService } from "./restarted-service.ts";

const requestCount = 1_500;
const restartChance = 0.01;
const seed = Math.floor(Math.random() * 2 ** 31);

for (const kind of engineKinds)
  test(`${requestCount} random requests agree with a Map [${kind.name}] (seed ${seed})`, async () => {
    const tally = new Tally();
    const random = new Random(seed);
    const service = new RestartedService(await kind.createStore(), kind, random);
    await service.start();
    const send: Send = async (method, path, init) => {
      if (kind.durable && random.chance(restartChance)) await service.restart();
      return service.send(method, path, init);
    };
    try {
      await fuzzRequests(send, random, tally, () => tally.operations < requestCount);
    } finally {
      await service.stop();
    }
    expect(tally.findings).toEqual([]);
  });
