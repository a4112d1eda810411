// What the user sees of the session: items, messages, the sign-in form and the state of the connection. The service is
// the real one, in this process, with its change feed.

import { afterEach, describe, expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Access } from "../../src/http/access.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import type { KeptEdit } from "../../src/page/edit.ts";
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

async function open(options: ServiceOptions = {}, isTyping = () => false) {
  const service = await Service.on(new MemoryEngine(), options);
  const network = new Network(service);
  const outbox = new Outbox(() => {});
  const session = new Session({
    outbox,
    connect: (credentials) => network.connect(credentials),
    spelling: undefined,
    readOnly: false,
    isTyping,
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
const entry = (name: string) => ({ name, done: false });

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
    session.add(entry("One"));
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
    session.add(entry("One"));
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
    session.add(entry("Two"));
    expect(JSON.parse(shown(session, "Two").json)).toMatchObject({ name: "Two", notes: "", done: false });
  });

  test("a deletion is sent when its message is closed, and not before", async () => {
    const { service, network, session, names } = await open();
    await service.create(named(ids.one, "One"));
    session.start();
    await untilLive(session);
    session.remove(shown(session, "One"));
    expect([names(), session.notices.all[0]?.text]).toEqual([[], "Deleted “One”"]);
    expect(network.requests.filter((request) => request.startsWith("DELETE"))).toEqual([]);
    session.notices.close(session.notices.all[0]?.key ?? -1);
    await untilSent(session);
    expect(await service.list()).toBe("[]");
  });

  test("undoing a deletion leaves every item in its place, and the service never hears of it", async () => {
    const { service, network, session, names } = await open();
    await service.create(named(ids.one, "One"));
    await service.create(named(ids.two, "Two"));
    session.start();
    await untilLive(session);
    session.remove(...session.items);
    expect([names(), session.notices.all[0]?.text]).toEqual([[], "Deleted 2 items"]);
    session.notices.act(session.notices.all[0]?.key ?? -1);
    expect([names(), session.unsentCount, session.notices.all]).toEqual([["Two", "One"], 0, []]);
    expect(network.requests.filter((request) => request.startsWith("DELETE"))).toEqual([]);
  });

  test("a fourth message closes the first one, which sends its deletion", async () => {
    const { service, session } = await open();
    for (const id of [ids.one, ids.two, ids.three]) await service.create(named(id, id));
    await service.create(named(numbered(4), "Four"));
    session.start();
    await untilLive(session);
    for (const item of session.items) session.remove(item);
    await eventually(async () => expect(await service.list()).not.toContain("Four"));
    expect([session.notices.all.length, session.unsentCount]).toEqual([3, 3]);
  });

  test("several names are listed in the order in which they were added, and adding them is undone in one step, whether they were sent or not", async () => {
    const { service, network, session, names } = await open();
    session.start();
    await untilLive(session);
    session.add(entry("One"), entry("Two"));
    await untilSent(session);
    expect(names()).toEqual(["One", "Two"]);
    session.notices.act(session.notices.all[0]?.key ?? -1);
    await untilSent(session);
    expect([names(), await service.list()]).toEqual([[], "[]"]);
    network.state = "down";
    session.add(entry("Three"), entry("Four"));
    session.notices.act(session.notices.all[0]?.key ?? -1);
    network.state = "up";
    await untilSent(session);
    expect([names(), await service.list()]).toEqual([[], "[]"]);
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

  test("changes to different fields are merged without asking the user", async () => {
    const { service, session } = await open();
    await service.create(item(ids.one, '"Name":"One","Notes":"","Done":false'));
    session.start();
    await untilLive(session);
    const base = shown(session, "One");
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"One","Notes":"theirs","Done":false'));
    session.save(base, item(ids.one, '"Name":"Mine","Notes":"","Done":false'));
    await untilSent(session);
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"Mine","Notes":"theirs","Done":false')}]`);
  });

  for (const which of ["mine", "theirs"] as const) {
    test(`if both changed a field, choosing ${which} decides that field, and all other changes stay`, async () => {
      const { service, session } = await open();
      await service.create(item(ids.one, '"Name":"One","Notes":"","Done":false'));
      session.start();
      await untilLive(session);
      const base = shown(session, "One");
      await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"theirs","Notes":"","Done":true'));
      session.save(base, item(ids.one, '"Name":"mine","Notes":"my notes","Done":false'));
      await eventually(async () => expect(shown(session, "mine").conflict).toBeDefined());
      session.decide(ids.one, which);
      await untilSent(session);
      expect(JSON.parse(await service.list())).toEqual([{ ID: ids.one, Name: which, Notes: "my notes", Done: true }]);
    });
  }

  /**
   * Opens a session. Somebody else changes its item, and then the session sends a new name. The answer is held back
   * until `answer` is called.
   */
  async function sendDuringTheirChange(theirs = '"Name":"One","Notes":"theirs","Done":false') {
    const opened = await open();
    const { service, network, session } = opened;
    await service.create(item(ids.one, '"Name":"One","Notes":"","Done":false'));
    session.start();
    await untilLive(session);
    const base = shown(session, "One");
    await service.send("PUT", "/api/todoitems/", item(ids.one, theirs));
    const answer = Promise.withResolvers<void>();
    network.answersAfter = answer.promise;
    session.save(base, item(ids.one, '"Name":"Mine","Notes":"","Done":false'));
    await eventually(() => network.requests.at(-1) === "PUT /api/todoitems/");
    return { ...opened, answer: () => answer.resolve() };
  }

  test("an edit keeps somebody else's changes even if it is made before an earlier edit was merged with them", async () => {
    const { service, session, answer } = await sendDuringTheirChange();
    session.setDone(shown(session, "Mine"), true);
    answer();
    await untilSent(session);
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"Mine","Notes":"theirs","Done":true')}]`);
  });

  test("an editor keeps somebody else's changes even if it was opened before an earlier edit was merged with them", async () => {
    const { service, session, answer } = await sendDuringTheirChange();
    const base = shown(session, "Mine");
    answer();
    await untilSent(session);
    session.save(base, item(ids.one, '"Name":"Mine, typed","Notes":"","Done":false'));
    await untilSent(session);
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"Mine, typed","Notes":"theirs","Done":false')}]`);
  });

  test("an editor that was opened before an earlier edit was merged with somebody else's changes does not overwrite them unasked", async () => {
    const { session, answer } = await sendDuringTheirChange();
    const base = shown(session, "Mine");
    answer();
    await untilSent(session);
    session.save(base, item(ids.one, '"Name":"Mine","Notes":"my notes","Done":false'));
    await eventually(() => session.items[0]?.conflict !== undefined);
    expect(session.items[0]?.conflict?.theirs?.json).toContain('"Notes":"theirs"');
  });

  test("an edit that is made just before an earlier edit turns out to be a conflict is part of the decision", async () => {
    const { service, session, answer } = await sendDuringTheirChange('"Name":"Theirs","Notes":"","Done":false');
    session.setDone(shown(session, "Mine"), true);
    answer();
    await eventually(() => shown(session, "Mine").conflict !== undefined);
    session.decide(ids.one, "mine");
    await untilSent(session);
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"Mine","Notes":"","Done":true')}]`);
  });

  test("a deletion after an edit that was merged with somebody else's changes asks the user, who has not seen them", async () => {
    const { session, answer } = await sendDuringTheirChange();
    session.remove(shown(session, "Mine"));
    answer();
    session.notices.close(session.notices.all[0]?.key ?? -1);
    await eventually(() => session.items[0]?.conflict?.deletes === true);
  });

  test("a conflict that the user has not decided is a conflict again after a reload", async () => {
    const { service, network, session, outbox, answer } = await sendDuringTheirChange(
      '"Name":"Theirs","Notes":"","Done":false',
    );
    answer();
    await eventually(() => shown(session, "Mine").conflict !== undefined);
    const reloaded = new Outbox(() => {});
    const later = new Session({
      outbox: reloaded,
      connect: () => network.connect(),
      spelling: undefined,
      readOnly: false,
    });
    opened.push({ session: later, service });
    reloaded.restore(outbox.entries, false);
    later.start();
    await eventually(() => later.items[0]?.conflict !== undefined);
    expect(await service.list()).toContain('"Name":"Theirs"');
  });

  test("if an answer was lost and the item was changed again since, the user decides whether to repeat the change", async () => {
    const { service, network, session } = await open();
    await service.create(item(ids.one, '"Name":"One","Notes":""'));
    session.start();
    await untilLive(session);
    network.state = "lossy";
    session.save(shown(session, "One"), item(ids.one, '"Name":"Mine","Notes":""'));
    await eventually(async () => expect(await service.list()).toContain("Mine"));
    // Somebody puts the old name back, on purpose.
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"One","Notes":"the name was right"'));
    network.state = "up";
    session.reconnect();
    await eventually(() => shown(session, "Mine").conflict !== undefined);
    expect(shown(session, "Mine").conflict?.theirs?.versions).toEqual({
      mine: item(ids.one, '"Name":"Mine","Notes":"the name was right"'),
      theirs: item(ids.one, '"Name":"One","Notes":"the name was right"'),
    });
  });

  test("if the answer to a create was lost, an edit of the new item is stored without asking the user", async () => {
    const { service, network, session } = await open();
    session.start();
    await untilLive(session);
    network.state = "lossy";
    session.add(entry("One"));
    await eventually(async () => expect(await service.list()).toContain("One"));
    await eventually(() => shown(session, "One").pending);
    session.save(shown(session, "One"), shown(session, "One").json.replace("One", "Two"));
    network.state = "up";
    session.reconnect();
    await untilSent(session);
    expect(JSON.parse(await service.list())).toMatchObject([{ Name: "Two" }]);
    expect(session.items).toMatchObject([{ conflict: undefined, problem: undefined, fields: { name: "Two" } }]);
  });

  test("undoing a deletion brings the item back, even if the deletion was stored and its answer was lost", async () => {
    const { service, network, session, outbox } = await open();
    await service.create(named(ids.one, "One"));
    session.start();
    await untilLive(session);
    network.state = "lossy";
    session.remove(shown(session, "One"));
    outbox.release(new Set([ids.one]));
    session.add(entry("Two"));
    await eventually(async () => expect(await service.list()).toBe("[]"));
    session.notices.act(session.notices.all[0]?.key ?? -1);
    network.state = "up";
    session.reconnect();
    await untilSent(session);
    expect(JSON.parse(await service.list())).toMatchObject([{ Name: "Two" }, { Name: "One" }]);
  });

  test("keeping both leaves the other version and adds the user's as a new item", async () => {
    const { service, session } = await open();
    await service.create(named(ids.one, "One"));
    session.start();
    await untilLive(session);
    const base = shown(session, "One");
    await service.send("PUT", "/api/todoitems/", named(ids.one, "Theirs"));
    session.save(base, named(ids.one, "Mine"));
    await eventually(async () => expect(shown(session, "Mine").conflict).toBeDefined());
    session.decide(ids.one, "both");
    await untilSent(session);
    const [theirs, mine] = JSON.parse(await service.list());
    expect(theirs).toEqual({ ID: ids.one, Name: "Theirs" });
    expect(mine).toEqual({ ID: expect.not.stringMatching(ids.one), Name: "Mine" });
  });
});

describe("messages", () => {
  test("a refused item stays with the reason, and can be corrected or discarded", async () => {
    const { service, session, names } = await open({ bodyBytesMax: 150 });
    session.start();
    session.add(entry("x".repeat(200)));
    await eventually(async () => expect(session.notices.all).toHaveLength(1));
    expect(session.notices.all[0]).toMatchObject({ kind: "problem", action: undefined });
    expect(session.notices.all[0]?.text).toMatch(/^“x{39}…” was not added: .*150 bytes/);
    const refused = shown(session, "x".repeat(200));
    expect(refused.problem).toContain("150 bytes");
    session.save(refused, refused.json.replace("x".repeat(200), "short"));
    await untilSent(session);
    expect(shown(session, "short").problem).toBeUndefined();
    session.save(shown(session, "short"), refused.json);
    await eventually(() => shown(session, "x".repeat(200)).problem !== undefined);
    session.discard(refused.id);
    expect(names()).toEqual(["short"]);
    expect(JSON.parse(await service.list())).toMatchObject([{ Name: "short" }]);
  });

  test("new items that a read-only service does not keep disappear, with one message for all of them", async () => {
    const { session, names } = await open({ readOnly: true });
    session.start();
    await untilLive(session);
    expect(session.readOnly).toBe(true);
    session.add(entry("One"));
    await untilSent(session);
    session.add(entry("Two"), entry("Three"));
    await untilSent(session);
    expect([names(), session.notices.all]).toMatchObject([[], [{ text: "Not kept: this service is read-only." }]]);
  });

  test("edits that were made before the service became read-only wait until it is writable again, and a deletion offers no Undo", async () => {
    const engine = new MemoryEngine();
    const writable = await Service.on(engine);
    await writable.create(named(ids.one, "One"));
    const { network, session, names } = await open();
    const readOnly = await Service.on(engine, { readOnly: true });
    network.service = writable;
    session.start();
    await untilLive(session);
    network.state = "down";
    network.breakFeeds();
    await eventually(() => session.connection === "lost");
    session.save(shown(session, "One"), named(ids.one, "Typed"));
    network.state = "up";
    network.service = readOnly;
    session.reconnect();
    await untilLive(session);
    // The service is read-only now: it answers the user's next edits, but stores nothing. These edits must not change
    // the edit that still waits to be sent.
    session.add(entry("Two"));
    session.remove(shown(session, "Typed"));
    expect(session.notices.all.filter(({ action }) => action !== undefined)).toEqual([]);
    await eventually(async () => expect(names()).toEqual(["Typed"]));
    expect([session.readOnly, session.pausedCount, session.unsentCount]).toEqual([true, 1, 1]);
    network.service = writable;
    session.reconnect();
    await untilSent(session);
    expect(await writable.list()).toBe(`[${named(ids.one, "Typed")}]`);
    for (const { collection } of [writable, readOnly]) await collection.close();
  });

  test("an offer to go on with what was typed ends when the item is saved or deleted", async () => {
    const { service, session } = await open();
    await service.create(named(ids.one, "One"));
    session.start();
    await untilLive(session);
    const one = shown(session, "One");
    const offer = () => {
      session.offerDraft(one, () => {});
      expect(session.notices.all.map(({ text }) => text)).toEqual(["Your change of “One” was not saved."]);
    };
    offer();
    session.save(one, named(ids.one, "Two"));
    expect(session.notices.all).toEqual([]);
    await untilSent(session);
    offer();
    await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
    await eventually(() => session.notices.all.length === 0);
  });

  test("the newest deletion is undone first, and the restored item gets the focus", async () => {
    const { service, session, names } = await open();
    await service.create(named(ids.one, "One"));
    await service.create(named(ids.two, "Two"));
    session.start();
    await untilLive(session);
    session.remove(shown(session, "Two"));
    session.remove(shown(session, "One"));
    session.undo();
    expect([names(), session.focusId]).toEqual([["One"], ids.one]);
    session.hasFocused();
    session.undo();
    expect([names(), session.focusId, session.notices.all]).toEqual([["Two", "One"], ids.two, []]);
    session.undo();
    expect(session.notices.all).toMatchObject([{ text: "There is nothing to undo." }]);
  });

  test("deletions, ticks and other edits are undone one by one, even after the service has stored them", async () => {
    const { service, session, names } = await open();
    await service.create(item(ids.one, '"Name":"One","Done":false'));
    session.start();
    await untilLive(session);
    session.setDone(shown(session, "One"), true);
    await untilSent(session);
    session.save(shown(session, "One"), shown(session, "One").json.replace("One", "Two"));
    session.remove(shown(session, "Two"));
    session.notices.close(session.notices.all[0]?.key ?? -1);
    await untilSent(session);
    expect(await service.list()).toBe("[]");
    session.undo();
    session.undo();
    expect([names(), shown(session, "One").fields.done]).toEqual([["One"], true]);
    await untilSent(session);
    session.undo();
    await untilSent(session);
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"One","Done":false')}]`);
  });

  test("undoing an edit keeps what somebody else has changed since, and asks if that is the same field", async () => {
    const { service, session } = await open();
    await service.create(item(ids.one, '"Name":"One","Done":false'));
    session.start();
    await untilLive(session);
    session.setDone(shown(session, "One"), true);
    await untilSent(session);
    session.save(shown(session, "One"), item(ids.one, '"Name":"Mine","Done":true'));
    await untilSent(session);
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"Theirs","Done":true'));
    await eventually(() => shown(session, "Theirs").json);
    session.undo();
    await eventually(() => session.items[0]?.conflict !== undefined);
    session.decide(ids.one, "theirs");
    await eventually(() => shown(session, "Theirs").conflict === undefined);
    session.undo();
    await untilSent(session);
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"Theirs","Done":false')}]`);
  });

  test("what the user did on another store cannot be undone any more", async () => {
    const { service, network, session } = await open();
    await service.create(item(ids.one, '"Name":"One","Done":false'));
    session.start();
    await untilLive(session);
    session.setDone(shown(session, "One"), true);
    await untilSent(session);
    network.service = await Service.on(new MemoryEngine());
    network.breakFeeds();
    await eventually(() => session.items.length === 0);
    session.undo();
    expect(session.notices.all).toMatchObject([{ text: "There is nothing to undo." }]);
    await network.service.collection.close();
  });

  test("leaving the page sends the deletions that could be undone, and gives up every unsent edit", async () => {
    const { service, network, outbox, session } = await open();
    await service.create(named(ids.one, "One"));
    await service.create(named(ids.two, "Two"));
    session.start();
    await untilLive(session);
    network.answersAfter = new Promise(() => {});
    session.remove(shown(session, "One"));
    session.remove(shown(session, "Two"));
    session.leave();
    expect(outbox.entries).toEqual([]);
    await eventually(async () => expect(await service.list()).toBe("[]"));
  });

  test("a list that cannot be read is reported with a way to try again", async () => {
    const { network, session } = await open();
    network.state = 500;
    session.start();
    await eventually(async () => expect(session.notices.all).toHaveLength(1));
    expect([session.connection, session.loaded]).toEqual(["lost", false]);
    expect(session.notices.all[0]?.text).toStartWith("The list cannot be read: ");
    network.state = "up";
    session.notices.act(session.notices.all[0]?.key ?? -1);
    await untilLive(session);
  });

  test("only the last three messages are kept, and none twice", async () => {
    const { session } = await open();
    for (const text of ["1", "2", "3", "4", "4"]) session.notices.add("done", text);
    expect(session.notices.all.map(({ text }) => text)).toEqual(["2", "3", "4"]);
    session.notices.close(session.notices.all[1]?.key ?? -1);
    expect(session.notices.all.map(({ text }) => text)).toEqual(["2", "4"]);
  });
});

describe("the connection", () => {
  test("edits made while the connection is lost are sent when it is back", async () => {
    const { service, network, session } = await open();
    network.state = "down";
    session.start();
    await eventually(async () => expect(session.connection).toBe("lost"));
    session.add(entry("One"));
    session.add(entry("Two"));
    expect(session.unsentCount).toBe(2);
    network.state = "up";
    session.reconnect();
    await untilSent(session);
    expect(session.connection).toBe("live");
    expect(JSON.parse(await service.list())).toMatchObject([{ Name: "One" }, { Name: "Two" }]);
  });
});

test("a resting page sends its edits, but after a failure it sends nothing until it has seen the store again", async () => {
  const { service, network, outbox, session } = await open();
  session.start();
  await untilLive(session);
  session.rest();
  session.add(entry("One"));
  await untilSent(session);
  network.state = "down";
  session.add(entry("Two"));
  await eventually(() => outbox.entries.some(({ maybeStored }) => maybeStored));
  network.state = "up";
  expect([outbox.next(Date.now()), session.unsentCount]).toEqual([undefined, 1]);
  session.reconnect();
  await untilSent(session);
  expect(JSON.parse(await service.list())).toMatchObject([{ Name: "One" }, { Name: "Two" }]);
});

describe("a connection that is opened again", () => {
  test("after a rest, the page receives only what has changed, and not the whole list", async () => {
    const { service, network, session, names } = await open();
    await service.create(named(ids.one, "One"));
    session.start();
    await untilLive(session);
    session.rest();
    await service.create(named(ids.two, "Two"));
    session.reconnect();
    await eventually(() => expect(names()).toEqual(["Two", "One"]));
    expect(network.exchanges).toEqual(["/changes 200", "/changes?since=… 200 events", "/changes?since=… 200 events"]);
  });

  test("after signing in, the page reads the whole list", async () => {
    const { network, session } = await open(await guarded("writes"));
    session.start();
    await untilLive(session);
    session.openSignIn();
    session.signInAs({ username: "ann", password: "secret" });
    await eventually(() => session.signIn === undefined);
    expect(network.exchanges.filter((exchange) => exchange === "/changes 200")).toHaveLength(2);
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
    session.add(entry("One"));
    await eventually(async () => expect(session.signIn).toBeDefined());
    session.signInAs({ username: "ann", password: "secret" });
    await untilSent(session);
    expect(session.signIn).toBeUndefined();
    expect(JSON.parse(await service.list())).toMatchObject([{ Name: "One" }]);
  });

  test("while the user types, the form does not open by itself: the edits wait, and the user can open the form", async () => {
    let isTyping = true;
    const { service, session, names } = await open(await guarded("writes"), () => isTyping);
    session.start();
    await untilLive(session);
    session.add(entry("One"));
    await eventually(() => session.signInPostponed);
    session.add(entry("Two"));
    expect([session.signIn, session.signInPostponed, names()]).toEqual([undefined, true, ["Two", "One"]]);
    session.openSignIn();
    // The form is open, so the user is typing into the form itself. A wrong password must not close the form.
    session.signInAs({ username: "ann", password: "wrong" });
    await eventually(() => session.signIn?.problem !== undefined);
    session.cancelSignIn();
    isTyping = false;
    session.setDone(shown(session, "Two"), true);
    await eventually(() => session.signIn !== undefined);
    session.signInAs({ username: "ann", password: "secret" });
    await untilSent(session);
    expect([session.signIn, service.collection.count]).toEqual([undefined, 2]);
  });

  test("a new list does not close the form while the user fills it in", async () => {
    const { network, session, names } = await open(await guarded("writes"));
    session.start();
    await untilLive(session);
    session.openSignIn();
    // Another store answers now, so the page gets a new list.
    network.service = await Service.on(new MemoryEngine(), {});
    await network.service.create(named(ids.one, "One"));
    session.reconnect();
    await eventually(() => expect(names()).toEqual(["One"]));
    expect(session.signIn).toBeDefined();
    session.rest();
    await network.service.collection.close();
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

  test("cancelling sign-in keeps the edits, which wait quietly until the user signs in", async () => {
    const { service, network, session, names } = await open(await guarded("writes"));
    session.start();
    await untilLive(session);
    session.add(entry("One"));
    await eventually(async () => expect(session.signIn).toBeDefined());
    session.cancelSignIn();
    expect([session.signIn, session.signInPostponed, session.unsentCount, names()]).toEqual([
      undefined,
      true,
      1,
      ["One"],
    ]);
    const sent = network.requests.length;
    session.reconnect();
    await eventually(() => network.requests.length > sent);
    await untilLive(session);
    expect(network.requests.slice(sent)).not.toContain("POST /api/todoitems/");
    session.openSignIn();
    session.signInAs({ username: "ann", password: "secret" });
    await untilSent(session);
    expect([session.signInPostponed, JSON.parse(await service.list())]).toMatchObject([false, [{ Name: "One" }]]);
  });

  test("if the list needs credentials, the form can be closed, and opens again only if the user makes an edit or asks for it", async () => {
    const { service, session, names } = await open(await guarded("all"));
    session.start();
    await eventually(() => session.signIn !== undefined);
    session.cancelSignIn();
    const refusedAgain = new Promise<void>((resolve) => session.subscribe(resolve));
    session.reconnect();
    await refusedAgain;
    expect([session.signIn, session.connection, session.loaded]).toEqual([undefined, "signed-out", false]);
    session.add(entry("One"));
    await eventually(() => session.signIn !== undefined);
    session.cancelSignIn();
    expect([session.unsentCount, names()]).toEqual([1, ["One"]]);
    session.openSignIn();
    session.signInAs({ username: "ann", password: "secret" });
    await untilSent(session);
    expect([session.connection, service.collection.count]).toEqual(["live", 1]);
  });

  test("after a sign-in the form closes, even if a refused item still waits to be corrected", async () => {
    const { session } = await open({ ...(await guarded("writes")), bodyBytesMax: 150 });
    session.start();
    await untilLive(session);
    session.openSignIn();
    session.signInAs({ username: "ann", password: "secret" });
    await eventually(() => session.signIn === undefined);
    session.add(entry("x".repeat(200)));
    await eventually(() => session.items[0]?.problem !== undefined);
    session.signOut();
    await untilLive(session);
    session.openSignIn();
    session.signInAs({ username: "ann", password: "secret" });
    await eventually(() => session.signIn === undefined);
    expect([session.username, session.unsentCount]).toEqual(["ann", 1]);
  });

  test("edits that wait for a sign-in can be discarded", async () => {
    const { session, names } = await open(await guarded("writes"));
    session.start();
    await untilLive(session);
    session.add(entry("One"));
    await eventually(async () => expect(session.signIn).toBeDefined());
    session.cancelSignIn();
    session.discardUnsent();
    expect([session.unsentCount, names()]).toEqual([0, []]);
  });
});

describe("edits of an earlier visit", () => {
  const kept = (epoch: string | undefined): KeptEdit => ({
    edit: { kind: "create", id: ids.two, json: named(ids.two, "Two") },
    epoch,
  });

  test("edits made on the same store are sent as soon as the page is connected", async () => {
    const { service, outbox, session } = await open();
    outbox.restore([kept(service.collection.epoch)], false);
    session.start();
    await untilSent(session);
    expect(await service.list()).toBe(`[${named(ids.two, "Two")}]`);
  });

  for (const which of ["send", "discard"] as const) {
    test(`edits made on another store are not sent before the user has decided to ${which} them`, async () => {
      const { service, network, outbox, session } = await open();
      outbox.restore([kept("another")], false);
      session.start();
      await untilLive(session);
      expect([session.heldNames, session.items, session.unsentCount]).toEqual([["“Two”"], [], 0]);
      expect(network.requests).not.toContain("POST /api/todoitems/");
      session.decideHeld(which);
      await untilSent(session);
      expect(session.heldNames).toEqual([]);
      expect(await service.list()).toBe(which === "send" ? `[${named(ids.two, "Two")}]` : "[]");
    });
  }
});

function numbered(index: number): string {
  return `00000000-0000-4000-8000-${index.toString().padStart(12, "0")}`;
}
