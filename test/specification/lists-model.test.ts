// Random requests to many lists at the same time agree with one model for each, on every engine: with so little memory
// that most requests meet a list that has to be loaded, across restarts and, if several processes may share a store,
// through two of them and across crashes.

import { expect, test } from "bun:test";
import { Access } from "../../src/http/access.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import { engineKinds } from "../engines/engine-kinds.ts";
import { ManyLists } from "../fuzz/many-lists.ts";
import type { Send } from "../fuzz/requests.ts";
import { Tally } from "../torture/part.ts";
import { Random } from "../wire/random.ts";
import { RestartedService } from "./restarted-service.ts";

const rounds = 12;
const stepsEach = 12;
const seed = Number(process.env["LISTS_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

/** Two names differ only in letter case. */
const users = ["ann", "ANN", "bob"];
const basic = (name: string) => `Basic ${btoa(`${name}:secret`)}`;

function accessOf(mode: "many" | "user"): Access {
  const hash = Bun.password.hashSync("secret", { algorithm: "bcrypt", cost: 4 });
  const auth = new BasicAuth(new Map(users.map((name) => [name, hash])));
  return mode === "many" ? new Access() : new Access({ mode: "all", auth });
}

function sendersOf(mode: "many" | "user", send: Send): Send[] {
  if (mode === "many") return [send];
  return users.map((name) => (method, path, init) => {
    const headers = new Headers(init.headers);
    headers.set("Authorization", basic(name));
    return send(method, path, { ...init, headers });
  });
}

for (const kind of engineKinds)
  test.each(["many", "user"] as const)(
    `random requests to lists of %s agree with their models [${kind.name}] (seed ${seed})`,
    async (mode) => {
      const tally = new Tally();
      const random = new Random(seed);
      const options = { lists: mode, listMemoryMax: 1, access: accessOf(mode) };
      const service = new RestartedService(await kind.createStore(), kind, random, options);
      await service.start();
      const senders = sendersOf(mode, service.send);
      // One after the other, because only few passwords of an address may wait.
      for (const send of senders) await send("GET", "/lists", {});
      const lists = new ManyLists(senders, random, tally);

      try {
        for (let round = 0; round < rounds && tally.wrong === 0; round++) {
          await lists.work(stepsEach);
          await lists.compare();
          if (!kind.durable || !random.chance(0.4)) continue;
          await lists.endFeeds();
          await service.restart();
          await lists.compare();
        }
      } finally {
        await lists.endFeeds();
        await service.stop();
      }
      expect(tally.findings).toEqual([]);
    },
  );
