// How the sender of the user's edits handles each answer. The service is the real one, in this process.

import { afterEach, describe, expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Access } from "../../src/http/access.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import type { Edit } from "../../src/page/edit.ts";
import { Outbox } from "../../src/page/outbox.ts";
import { Sender, type SendOutcome } from "../../src/page/sender.ts";
import { eventually } from "../eventually.ts";
import { ids, item, Service, type ServiceOptions } from "../service.ts";
import { Network } from "./network.ts";

const services: Service[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.collection.close();
});

async function open(options: ServiceOptions = {}) {
  const service = await Service.on(new MemoryEngine(), options);
  services.push(service);
  const network = new Network(service);
  const outbox = new Outbox(() => {});
  outbox.connected("epoch");
  const outcomes: SendOutcome[] = [];
  const silences: boolean[] = [];
  const connected = { client: network.connect() };
  const sender: Sender = new Sender({
    outbox,
    client: () => connected.client,
    onOutcome: (outcome) => outcomes.push(outcome),
    onSilence: () => silences.push(sender.isUnanswered),
    silenceMs: 10,
  });
  /** Sends these edits, and returns the outcome of every attempt. */
  const send = async (...edits: readonly Edit[]) => {
    for (const edit of edits) outbox.add(edit);
    await sender.send();
    return outcomes.splice(0).map(({ kind }) => kind);
  };
  return { service, network, outbox, outcomes, silences, connected, sender, send };
}

const named = (id: string, name: string) => item(id, `"Name":"${name}"`);
const create = (id: string, name: string): Edit => ({ kind: "create", id, json: named(id, name) });
const update = (id: string, name: string, etag: string | undefined): Edit => ({
  kind: "update",
  id,
  json: named(id, name),
  etag,
});
const remove = (id: string, etag?: string): Edit => ({ kind: "delete", id, etag });

async function createThere(service: Service, id: string, name: string): Promise<string | undefined> {
  return (await service.create(named(id, name))).headers.get("etag") ?? undefined;
}

test("if an answer takes long, the sender says so until the service answers that attempt or a later one", async () => {
  const { network, outbox, sender, silences } = await open();
  for (const [id, state] of [
    [ids.one, "up"],
    [ids.two, "lossy"],
  ] as const) {
    const answer = Promise.withResolvers<void>();
    network.answersAfter = answer.promise;
    network.state = state;
    outbox.add(create(id, "One"));
    const sent = sender.send();
    await eventually(() => expect([silences, sender.isUnanswered]).toEqual([[true], true]));
    answer.resolve();
    await sent;
    expect(sender.isUnanswered).toBe(state === "lossy");
    network.state = 503;
    await sender.send();
    expect(sender.isUnanswered).toBe(false);
    silences.length = 0;
  }
});

describe("edits that the service accepts", () => {
  test("edits are sent in the order they were made, and are then stored", async () => {
    const { service, network, outbox, send } = await open();
    await createThere(service, ids.one, "One");
    await createThere(service, ids.two, "Two");
    const edits = [create(ids.three, "Three"), update(ids.one, "Uno", undefined), remove(ids.two)];
    expect(await send(...edits)).toEqual(["stored", "stored", "stored"]);
    expect(network.requests).toEqual([
      "POST /api/todoitems/",
      "PUT /api/todoitems/",
      `DELETE /api/todoitems/${ids.two}`,
    ]);
    expect(await service.list()).toBe(`[${named(ids.one, "Uno")},${named(ids.three, "Three")}]`);
    expect(outbox.unsentCount).toBe(0);
  });

  test("an edit made while another edit of the same item is being sent is based on the result of that one", async () => {
    const { service, outbox, outcomes, sender } = await open();
    outbox.add(create(ids.one, "One"));
    const sending = sender.send();
    outbox.add(update(ids.one, "Two", undefined));
    await Promise.all([sending, sender.send()]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(["stored", "stored"]);
    expect(await service.list()).toBe(`[${named(ids.one, "Two")}]`);
    const [created, updated] = outbox.entries;
    expect(updated?.edit).toMatchObject({ etag: created?.storedAs?.etag });
    expect(updated?.storedAs?.version).toBe(2);
  });
});

describe("edits of items that have changed elsewhere", () => {
  test("an update of an item that has changed elsewhere becomes a conflict with the other version, and edits of other items are sent", async () => {
    const { service, outbox, send } = await open();
    const etag = await createThere(service, ids.one, "One");
    const put = await service.send("PUT", "/api/todoitems/", named(ids.one, "Theirs"));
    expect(await send(update(ids.one, "Mine", etag), create(ids.two, "Two"))).toEqual(["conflict", "stored"]);
    expect(outbox.entries[0]).toMatchObject({
      state: "conflict",
      conflict: { theirs: { json: named(ids.one, "Theirs"), etag: put.headers.get("etag") }, deletes: false },
    });
    expect(await service.list()).toBe(`[${named(ids.one, "Theirs")},${named(ids.two, "Two")}]`);
  });

  test("a deletion of an item that has changed elsewhere becomes a conflict", async () => {
    const { service, outbox, send } = await open();
    const etag = await createThere(service, ids.one, "One");
    await service.send("PUT", "/api/todoitems/", named(ids.one, "Theirs"));
    expect(await send(remove(ids.one, etag))).toEqual(["conflict"]);
    expect(outbox.entries[0]?.conflict).toMatchObject({ theirs: { json: named(ids.one, "Theirs") }, deletes: true });
  });

  test("an update of a deleted item becomes a conflict without another version", async () => {
    const { outbox, send } = await open();
    expect(await send(update(ids.one, "Mine", undefined))).toEqual(["conflict"]);
    expect(outbox.entries[0]?.conflict).toEqual({ theirs: undefined, deletes: false });
  });

  test("a deletion of a deleted item counts as already done", async () => {
    const { outbox, send } = await open();
    expect(await send(remove(ids.one))).toEqual(["alreadyDone"]);
    expect(outbox.unsentCount).toBe(0);
  });

  test("an update to the state that the item already has counts as already done", async () => {
    const { service, network, outbox, send } = await open();
    const etag = await createThere(service, ids.one, "One");
    network.state = "lossy";
    expect(await send(update(ids.one, "Two", etag))).toEqual(["tryLater"]);
    expect(await service.list()).toBe(`[${named(ids.one, "Two")}]`);
    network.state = "up";
    expect(await send()).toEqual(["alreadyDone"]);
    expect(outbox.entries[0]).toMatchObject({ state: "stored", storedAs: { version: 2 } });
  });
});

describe("edits that have to wait", () => {
  test("without a connection, the first edit waits, and no other edit overtakes it", async () => {
    const { service, network, outbox, send } = await open();
    network.state = "down";
    expect(await send(create(ids.one, "One"), create(ids.two, "Two"))).toEqual(["tryLater"]);
    expect(outbox.entries.map(({ state }) => state)).toEqual(["waiting", "waiting"]);
    network.state = "up";
    expect(await send()).toEqual(["stored", "stored"]);
    expect(await service.list()).toBe(`[${named(ids.one, "One")},${named(ids.two, "Two")}]`);
  });

  for (const status of [408, 429, 502, 503, 504]) {
    test(`an edit that is answered with ${status} waits and is sent again`, async () => {
      const { network, outbox, send } = await open();
      network.state = status;
      expect(await send(create(ids.one, "One"))).toEqual(["tryLater"]);
      expect(outbox.unsentCount).toBe(1);
      network.state = "up";
      expect(await send()).toEqual(["stored"]);
    });
  }

  test("an edit that could not be sent is sent again automatically", async () => {
    const { network, outbox, send } = await open();
    network.state = "down";
    expect(await send(create(ids.one, "One"))).toEqual(["tryLater"]);
    network.state = "up";
    await eventually(async () => expect(outbox.unsentCount).toBe(0));
  });

  test("an edit with a time is not sent before that time, other edits are, and it is sent when the time has come", async () => {
    const { service, outbox, sender } = await open();
    await createThere(service, ids.one, "One");
    outbox.add(remove(ids.one), Date.now() + 300);
    outbox.add(create(ids.two, "Two"));
    await sender.send();
    expect(outbox.entries.map(({ state }) => state)).toEqual(["waiting", "stored"]);
    await eventually(async () => expect(await service.list()).toBe(`[${named(ids.two, "Two")}]`));
  });

  test("without a known store, no edit is sent", async () => {
    const { network, outbox, send } = await open();
    outbox.disconnected();
    expect(await send(create(ids.one, "One"))).toEqual([]);
    outbox.connected("epoch");
    expect(await send()).toEqual(["stored"]);
    expect(network.requests).toHaveLength(1);
  });

  test("without credentials, an edit waits until the client has some", async () => {
    const hash = await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 4 });
    const auth = new BasicAuth(new Map([["ann", hash]]));
    const access = new Access({ mode: "writes", auth });
    const { network, outbox, connected, send } = await open({ access });
    expect(await send(create(ids.one, "One"))).toEqual(["signInNeeded"]);
    expect(outbox.entries.map(({ state }) => state)).toEqual(["waiting"]);
    connected.client = network.connect({ username: "ann", password: "secret" });
    expect(await send()).toEqual(["stored"]);
  });
});

describe("edits that the service refuses", () => {
  test("a refused edit stays in the outbox with the reason, the next edit is sent, and a corrected one is sent again", async () => {
    const { service, outbox, outcomes, sender } = await open({ bodyBytesMax: 100 });
    const tooLarge = create(ids.one, "x".repeat(200));
    outbox.add(tooLarge);
    outbox.add(create(ids.two, "Two"));
    await sender.send();
    expect(outcomes).toMatchObject([
      { kind: "refused", edit: tooLarge, problem: expect.stringContaining("100 bytes") },
      { kind: "stored" },
    ]);
    expect(outbox.entries[0]).toMatchObject({ state: "refused", problem: expect.stringContaining("100 bytes") });
    expect(await service.list()).toBe(`[${named(ids.two, "Two")}]`);
    outbox.add(update(ids.one, "Short", undefined));
    await sender.send();
    expect(outbox.unsentCount).toBe(0);
    expect(await service.list()).toBe(`[${named(ids.two, "Two")},${named(ids.one, "Short")}]`);
  });

  test("if the user corrects an edit while it is being refused, the corrected one is sent", async () => {
    const { service, network, outbox, outcomes, sender } = await open({ bodyBytesMax: 100 });
    const answer = Promise.withResolvers<void>();
    network.answersAfter = answer.promise;
    const tooLarge = create(ids.one, "x".repeat(200));
    outbox.add(tooLarge);
    const sending = sender.send();
    const base = named(ids.one, "x".repeat(200));
    outbox.add({ kind: "update", id: ids.one, json: named(ids.one, "Short"), etag: undefined, base });
    answer.resolve();
    await sending;
    expect(outcomes.map(({ kind }) => kind)).toEqual(["merged", "stored"]);
    expect(await service.list()).toBe(`[${named(ids.one, "Short")}]`);
  });

  test("a new item whose first answer was lost counts as stored when it is sent again", async () => {
    const { service, network, outbox, send, sender, outcomes } = await open();
    network.state = "lossy";
    expect(await send(create(ids.one, "One"))).toEqual(["tryLater"]);
    network.state = "up";
    await sender.send();
    expect(outcomes.map(({ kind }) => kind)).toEqual(["alreadyDone"]);
    expect([outbox.unsentCount, await service.list()]).toEqual([0, `[${named(ids.one, "One")}]`]);
  });

  test("if it cannot be found out whether a new item is stored already, the item is sent again later", async () => {
    const { service, network, outbox, send } = await open();
    network.state = "lossy";
    expect(await send(create(ids.one, "One"))).toEqual(["tryLater"]);
    network.state = "up";
    const answer = Promise.withResolvers<void>();
    network.answersAfter = answer.promise;
    const sent = network.exchanges.length;
    const sending = send();
    await eventually(() => network.exchanges.length > sent);
    network.state = "down";
    answer.resolve();
    expect([await sending, outbox.unsentCount]).toEqual([["tryLater"], 1]);
    network.state = "up";
    expect([await send(), outbox.unsentCount]).toEqual([["alreadyDone"], 0]);
    expect(await service.list()).toBe(`[${named(ids.one, "One")}]`);
  });

  test("a new item whose ID is taken is refused", async () => {
    const { service, outcomes, outbox, sender } = await open();
    await createThere(service, ids.one, "Theirs");
    outbox.add(create(ids.one, "Mine"));
    await sender.send();
    expect(outcomes).toMatchObject([{ kind: "refused", problem: expect.stringContaining("already exists") }]);
    expect(await service.list()).toBe(`[${named(ids.one, "Theirs")}]`);
  });
});
