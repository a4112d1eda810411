// What the user sees of the session: items, messages, the sign-in form and the state of the connection. The service is
// the real one, in this process, with its change feed.

import { afterEach, describe, expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Access } from "../../src/http/access.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import { Outbox } from "../../src/page/outbox.ts";
import type { ShownItem } from "../../src/page/overlay.ts";
import { Session } from "../../src/page/session.ts";
import { eventually } from "../eventually.ts";
import { ids, item, Service, type ServiceOptions } from "../service.ts";
import { Network } from "./network.ts";

const opened: { readonly session: Session; readonly service: Service }[] = [];
afterEach(async () => {
  for (const { session, service } of opened.splice(0)) {
    session.rest();
    await service.collection.close();
  }
});

async function open(options: ServiceOptions = {}) {
  const service = await Service.on(new MemoryEngine(), options);
  const network = new Network(service);
  const outbox = new Outbox({ read: () => null, write() {} });
  const session = new Session({
    outbox,
    connect: (credentials) => network.connect(credentials),
    spelling: undefined,
    readOnly: false,
  });
  opened.push({ session, service });
  const names = () => session.items.map(({ fields }) => fields.name);
  return { service, network, outbox, session, names };
}

async function guarded(mode: "writes" | "all"): Promise<ServiceOptions> {
  const hash = await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 4 });
  const auth = new BasicAuth(new Map([["ann", hash]]));
  return { access: new Access({ mode, auth, rate: undefined, trustProxy: false }) };
}

const named = (id: string, name: string) => item(id, `"Name":"${name}"`);

function shown(session: Session, name: string): ShownItem {
  const found = session.items.find(({ fields }) => fields.name === name);
  if (!found) throw new Error(`${name} is not shown`);
  return found;
}

const untilLive = (session: Session) => eventually(async () => expect(session.connection).toBe("live"));
const untilSent = (session: Session) => eventually(async () => expect(session.unsentCount).toBe(0));

describe("items", () => {
  test("the list is shown newest first, and changes made elsewhere arrive by themselves", async () => {
    const { service, session, names } = await open();
    await service.create(named(ids.one, "One"));
    session.start();
    await untilLive(session);
    expect([session.loaded, names()]).toEqual([true, ["One"]]);
    await service.create(named(ids.two, "Two"));
    await eventually(async () => expect(names()).toEqual(["Two", "One"]));
    await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
    await eventually(async () => expect(names()).toEqual(["Two"]));
  });

  test("an edit is shown at once and stays visible while it is sent, stored and reported by the change feed", async () => {
    const { service, session, names } = await open();
    session.start();
    await untilLive(session);
    const seen = new Set<string>();
    session.subscribe(() => seen.add(names().join()));
    session.add("One");
    expect(shown(session, "One").pending).toBe(true);
    await eventually(async () => expect(session.version).toBe(1));
    expect(shown(session, "One")).toMatchObject({ pending: false, conflict: undefined });
    expect([...seen]).toEqual(["One"]);
    expect(await service.list()).toBe(`[${shown(session, "One").json}]`);
  });

  test("an edit that the change feed reports before its answer arrives leaves the outbox with the answer", async () => {
    const { network, outbox, session, names } = await open();
    session.start();
    await untilLive(session);
    const answer = Promise.withResolvers<void>();
    network.answersAfter = answer.promise;
    session.add("One");
    await eventually(async () => expect(session.version).toBe(1));
    expect([names(), session.unsentCount]).toEqual([["One"], 1]);
    answer.resolve();
    await eventually(async () => expect(outbox.entries).toEqual([]));
    expect(names()).toEqual(["One"]);
  });

  test("a new item spells its field names as the newest item does", async () => {
    const { service, session } = await open();
    await service.create(`{"id":"${ids.one}","name":"camel"}`);
    session.start();
    await untilLive(session);
    session.add("Two");
    expect(JSON.parse(shown(session, "Two").json)).toMatchObject({ name: "Two", notes: "", done: false });
  });

  test("a deletion that is undone before it was sent leaves the item in its place", async () => {
    const { service, network, outbox, session, names } = await open();
    await service.create(named(ids.one, "One"));
    await service.create(named(ids.two, "Two"));
    session.start();
    await untilLive(session);
    network.state = "down";
    session.remove(shown(session, "One"));
    expect(names()).toEqual(["Two"]);
    await eventually(async () => expect(outbox.entries.map(({ state }) => state)).toEqual(["waiting"]));
    session.notices[0]?.action?.run();
    expect([names(), session.unsentCount]).toEqual([["Two", "One"], 0]);
  });

  test("a deletion that is undone after it was stored creates the item again, with its ID", async () => {
    const { service, session, names } = await open();
    await service.create(named(ids.one, "One"));
    await service.create(named(ids.two, "Two"));
    session.start();
    await untilLive(session);
    session.remove(shown(session, "One"));
    await untilSent(session);
    session.notices[0]?.action?.run();
    await untilSent(session);
    expect(names()).toEqual(["One", "Two"]);
    expect(await service.list()).toBe(`[${named(ids.two, "Two")},${named(ids.one, "One")}]`);
  });
});

describe("conflicts", () => {
  for (const which of ["mine", "theirs"] as const) {
    test(`a conflict is shown with the item, and choosing ${which} resolves it`, async () => {
      const { service, session } = await open();
      await service.create(named(ids.one, "One"));
      session.start();
      await untilLive(session);
      const base = shown(session, "One");
      await service.send("PUT", "/api/todoitems/", named(ids.one, "Theirs"));
      session.save(base, named(ids.one, "Mine"));
      await eventually(async () => expect(shown(session, "Mine").conflict).toBeDefined());
      session.decide(ids.one, which);
      await untilSent(session);
      const kept = which === "mine" ? "Mine" : "Theirs";
      await eventually(async () => expect(shown(session, kept).conflict).toBeUndefined());
      expect(await service.list()).toBe(`[${named(ids.one, kept)}]`);
    });
  }
});

describe("messages", () => {
  test("a refused edit is taken back, and a message says why", async () => {
    const { session, names } = await open({ bodyBytesMax: 150 });
    session.start();
    session.add("x".repeat(200));
    await eventually(async () => expect(session.notices).toHaveLength(1));
    expect(session.notices[0]).toMatchObject({ kind: "problem", action: undefined });
    expect(session.notices[0]?.text).toMatch(/^“x{39}…” was not added: .*150 bytes/);
    expect(names()).toEqual([]);
  });

  test("an edit that a read-only service accepts is taken back, and a message says so", async () => {
    const { session, names } = await open({ readOnly: true });
    session.start();
    await untilLive(session);
    expect(session.readOnly).toBe(true);
    session.add("One");
    await eventually(async () => expect(session.notices[0]?.text).toStartWith("Accepted, but not kept"));
    expect([names(), session.unsentCount]).toEqual([[], 0]);
  });

  test("a list that cannot be read is reported with a way to try again", async () => {
    const { network, session } = await open();
    network.state = 500;
    session.start();
    await eventually(async () => expect(session.notices).toHaveLength(1));
    expect([session.connection, session.loaded]).toEqual(["lost", false]);
    expect(session.notices[0]?.text).toStartWith("The list cannot be read: ");
    network.state = "up";
    session.notices[0]?.action?.run();
    await untilLive(session);
  });

  test("only the last three messages are kept", async () => {
    const { session } = await open();
    for (const text of ["1", "2", "3", "4"]) session.notify("done", text);
    expect(session.notices.map(({ text }) => text)).toEqual(["2", "3", "4"]);
    session.dismiss(session.notices[1]?.key ?? -1);
    expect(session.notices.map(({ text }) => text)).toEqual(["2", "4"]);
  });
});

describe("the connection", () => {
  test("edits made while the connection is lost are sent when it is back", async () => {
    const { service, network, session } = await open();
    network.state = "down";
    session.start();
    await eventually(async () => expect(session.connection).toBe("lost"));
    session.add("One");
    session.add("Two");
    expect(session.unsentCount).toBe(2);
    network.state = "up";
    session.reconnect();
    await untilSent(session);
    expect(session.connection).toBe("live");
    expect(JSON.parse(await service.list())).toMatchObject([{ Name: "One" }, { Name: "Two" }]);
  });
});

describe("signing in", () => {
  test("if the list needs credentials, the page asks for them, reports wrong ones, and shows the list after the sign-in", async () => {
    const { session } = await open(await guarded("all"));
    session.start();
    await eventually(async () => expect(session.signIn).toEqual({ problem: undefined, busy: false }));
    session.signInAs({ username: "ann", password: "wrong" });
    expect(session.signIn).toEqual({ problem: undefined, busy: true });
    await eventually(async () =>
      expect(session.signIn).toEqual({ problem: "The name or the password is wrong.", busy: false }),
    );
    session.signInAs({ username: "ann", password: "secret" });
    await eventually(async () => expect(session.loaded).toBe(true));
    expect([session.signIn, session.username]).toEqual([undefined, "ann"]);
    session.signOut();
    expect([session.items, session.loaded]).toEqual([[], false]);
    await eventually(async () => expect(session.signIn).toBeDefined());
  });

  test("if only writes need credentials, the first edit asks for them and is sent after the sign-in", async () => {
    const { service, session } = await open(await guarded("writes"));
    session.start();
    await untilLive(session);
    session.add("One");
    await eventually(async () => expect(session.signIn).toBeDefined());
    session.signInAs({ username: "ann", password: "secret" });
    await untilSent(session);
    expect(session.signIn).toBeUndefined();
    expect(JSON.parse(await service.list())).toMatchObject([{ Name: "One" }]);
  });

  test("if the first edit after the sign-in meets a conflict, the form closes and the conflict is shown", async () => {
    const { service, session } = await open(await guarded("writes"));
    await service.collection.write({ kind: "create", item: { id: ids.one, json: named(ids.one, "Before") } });
    session.start();
    await eventually(() => session.items.length === 1);
    const before = shown(session, "Before");
    session.save(before, named(ids.one, "Mine"));
    await eventually(() => session.signIn !== undefined);
    const theirs = { id: ids.one, json: named(ids.one, "Theirs") };
    await service.collection.write({ kind: "update", item: theirs, condition: undefined });
    session.signInAs({ username: "ann", password: "secret" });
    await eventually(() => shown(session, "Mine").conflict !== undefined);
    expect(session.signIn).toBeUndefined();
  });

  test("cancelling sign-in drops the edits that were waiting for it", async () => {
    const { session, names } = await open(await guarded("writes"));
    session.start();
    await untilLive(session);
    session.add("One");
    await eventually(async () => expect(session.signIn).toBeDefined());
    session.cancelSignIn();
    expect([session.signIn, session.unsentCount, names()]).toEqual([undefined, 0, []]);
  });
});
