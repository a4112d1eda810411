// Edits that cannot simply be sent, and what the user decides about them. The service is the real one, in this process.

import { describe, expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import type { KeptEdit } from "../../src/page/edit.ts";
import { Outbox } from "../../src/page/outbox.ts";
import { Session } from "../../src/page/session.ts";
import { eventually } from "../eventually.ts";
import { ids, item, Service } from "../service.ts";
import { entry, guarded, named, shown, untilLive, untilSent, useSessions } from "./session-fixture.ts";

const { opened, open } = useSessions();

/** Opens a page that shows the item "One", which somebody else has just renamed to "Theirs". */
async function openWithTheirChange() {
  const page = await open();
  const { service, session } = page;
  await service.create(named(ids.one, "One"));
  session.start();
  await untilLive(session);
  const base = shown(session, "One");
  await service.send("PUT", "/api/todoitems/", named(ids.one, "Theirs"));
  return { ...page, base };
}

/** The user renames the item to "Mine", which is a conflict. */
async function openWithConflict() {
  const page = await openWithTheirChange();
  page.session.actions.save(page.base, named(ids.one, "Mine"));
  await eventually(async () => expect(shown(page.session, "Mine").conflict).toBeDefined());
  return page;
}

/** The user deletes the item, which is a conflict. */
async function openWithDeletionConflict() {
  const page = await openWithTheirChange();
  const { session } = page;
  session.actions.remove(page.base);
  session.notices.close(session.notices.all[0]?.key ?? -1);
  await eventually(() => expect(session.items[0]?.conflict?.deletes).toBeTrue());
  return page;
}

describe("conflicts", () => {
  for (const which of ["mine", "theirs"] as const) {
    test(`a conflict is shown with the item, and choosing ${which} resolves it`, async () => {
      const { service, session } = await openWithConflict();
      session.decisions.decide(ids.one, which);
      await untilSent(session);
      const kept = which === "mine" ? "Mine" : "Theirs";
      await eventually(async () => expect(shown(session, kept).conflict).toBeUndefined());
      expect(await service.list()).toBe(`[${named(ids.one, kept)}]`);
    });
  }

  test("an item that somebody changed and changed back is deleted without a question", async () => {
    const { service, session, names } = await open();
    await service.create(named(ids.one, "One"));
    session.start();
    await untilLive(session);
    session.actions.remove(shown(session, "One"));
    for (const name of ["Theirs", "One"]) await service.send("PUT", "/api/todoitems/", named(ids.one, name));
    session.notices.close(session.notices.all[0]?.key ?? -1);
    await untilSent(session);
    expect([service.collection.count, names()]).toEqual([0, []]);
  });

  test("undoing after choosing mine leads to the other version, without another question", async () => {
    const { session, names } = await openWithConflict();
    session.decisions.decide(ids.one, "mine");
    await untilSent(session);
    session.undo.undoNewest();
    await untilSent(session);
    await eventually(() => expect(names()).toEqual(["Theirs"]));
    expect(shown(session, "Theirs").conflict).toBeUndefined();
  });

  for (const which of ["theirs", "both"] as const) {
    test(`undoing after choosing ${which} asks again, and another choice counts`, async () => {
      const { service, session, names } = await openWithConflict();
      session.decisions.decide(ids.one, which);
      await untilSent(session);
      session.undo.undoNewest();
      await eventually(() => expect(names()).toEqual(["Mine"]));
      await eventually(() => expect(shown(session, "Mine").conflict?.theirs?.json).toBe(named(ids.one, "Theirs")));
      session.decisions.decide(ids.one, "mine");
      await untilSent(session);
      expect(await service.list()).toBe(`[${named(ids.one, "Mine")}]`);
    });
  }

  test("after the user has been asked again, the next undo undoes an older action", async () => {
    const { service, session } = await open();
    await service.create(item(ids.one, '"Name":"One","Done":false'));
    session.start();
    await untilLive(session);
    session.actions.setDone(shown(session, "One"), true);
    await untilSent(session);
    const base = shown(session, "One");
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"Theirs","Done":true'));
    session.actions.save(base, item(ids.one, '"Name":"Mine","Done":true'));
    for (let times = 0; times < 2; times++) {
      await eventually(() => expect(shown(session, "Mine").conflict).toBeDefined());
      session.decisions.decide(ids.one, "theirs");
      await eventually(() => expect(shown(session, "Theirs").conflict).toBeUndefined());
      session.undo.undoNewest();
    }
    await untilSent(session);
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"Theirs","Done":false')}]`);
  });

  test("a conflict is always with the newest version of the other person", async () => {
    const { service, session } = await openWithConflict();
    const theirs = () => shown(session, "Mine").conflict?.theirs?.json;
    await service.send("PUT", "/api/todoitems/", named(ids.one, "Theirs again"));
    await eventually(() => expect(theirs()).toBe(named(ids.one, "Theirs again")));
    await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
    await eventually(() => expect(shown(session, "Mine").conflict).toEqual({ theirs: undefined, deletes: false }));
    await service.create(named(ids.one, "Theirs, new"));
    await eventually(() => expect(theirs()).toBe(named(ids.one, "Theirs, new")));
    session.decisions.decide(ids.one, "mine");
    await untilSent(session);
    expect(await service.list()).toBe(`[${named(ids.one, "Mine")}]`);
  });

  test("if an item is deleted elsewhere while the user is asked about its deletion, there is nothing left to decide", async () => {
    const { service, session } = await openWithDeletionConflict();
    await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
    await eventually(() => expect(session.items).toEqual([]));
    expect(session.outbox.unsentCount).toBe(0);
  });

  test("undoing a deletion that the user insisted on brings back the other person's version", async () => {
    const { service, session } = await openWithDeletionConflict();
    session.decisions.decide(ids.one, "mine");
    await untilSent(session);
    expect(await service.list()).toBe("[]");
    session.undo.undoNewest();
    await untilSent(session);
    expect(await service.list()).toBe(`[${named(ids.one, "Theirs")}]`);
  });

  test("undoing after an item was kept asks again whether to delete it", async () => {
    const { service, session } = await openWithDeletionConflict();
    session.decisions.decide(ids.one, "theirs");
    await untilSent(session);
    session.undo.undoNewest();
    await eventually(() => expect(session.items[0]?.conflict?.deletes).toBeTrue());
    expect(await service.list()).toBe(`[${named(ids.one, "Theirs")}]`);
    session.decisions.decide(ids.one, "mine");
    await untilSent(session);
    expect(await service.list()).toBe("[]");
  });

  test("undoing after a deleted item was added again deletes it", async () => {
    const { service, session } = await open();
    await service.create(named(ids.one, "One"));
    session.start();
    await untilLive(session);
    const base = shown(session, "One");
    await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
    session.actions.save(base, named(ids.one, "Mine"));
    await eventually(async () => expect(shown(session, "Mine").conflict).toBeDefined());
    session.decisions.decide(ids.one, "mine");
    await untilSent(session);
    session.undo.undoNewest();
    await untilSent(session);
    expect(await service.list()).toBe("[]");
  });

  test("changes to different fields are merged without asking the user", async () => {
    const { service, session } = await open();
    await service.create(item(ids.one, '"Name":"One","Notes":"","Done":false'));
    session.start();
    await untilLive(session);
    const base = shown(session, "One");
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"One","Notes":"theirs","Done":false'));
    session.actions.save(base, item(ids.one, '"Name":"Mine","Notes":"","Done":false'));
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
      session.actions.save(base, item(ids.one, '"Name":"mine","Notes":"my notes","Done":false'));
      await eventually(async () => expect(shown(session, "mine").conflict).toBeDefined());
      session.decisions.decide(ids.one, which);
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
    session.actions.save(base, item(ids.one, '"Name":"Mine","Notes":"","Done":false'));
    await eventually(() => network.requests.at(-1) === "PUT /api/todoitems/");
    return { ...opened, answer: () => answer.resolve() };
  }

  test("an edit keeps somebody else's changes even if it is made before an earlier edit was merged with them", async () => {
    const { service, session, answer } = await sendDuringTheirChange();
    session.actions.setDone(shown(session, "Mine"), true);
    answer();
    await untilSent(session);
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"Mine","Notes":"theirs","Done":true')}]`);
  });

  test("an editor keeps somebody else's changes even if it was opened before an earlier edit was merged with them", async () => {
    const { service, session, answer } = await sendDuringTheirChange();
    const base = shown(session, "Mine");
    answer();
    await untilSent(session);
    session.actions.save(base, item(ids.one, '"Name":"Mine, typed","Notes":"","Done":false'));
    await untilSent(session);
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"Mine, typed","Notes":"theirs","Done":false')}]`);
  });

  test("an editor that was opened before an earlier edit was merged with somebody else's changes does not overwrite them unasked", async () => {
    const { session, answer } = await sendDuringTheirChange();
    const base = shown(session, "Mine");
    answer();
    await untilSent(session);
    session.actions.save(base, item(ids.one, '"Name":"Mine","Notes":"my notes","Done":false'));
    await eventually(() => session.items[0]?.conflict !== undefined);
    expect(session.items[0]?.conflict?.theirs?.json).toContain('"Notes":"theirs"');
  });

  test("an edit that is made just before an earlier edit turns out to be a conflict is part of the decision", async () => {
    const { service, session, answer } = await sendDuringTheirChange('"Name":"Theirs","Notes":"","Done":false');
    session.actions.setDone(shown(session, "Mine"), true);
    answer();
    await eventually(() => shown(session, "Mine").conflict !== undefined);
    session.decisions.decide(ids.one, "mine");
    await untilSent(session);
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"Mine","Notes":"","Done":true')}]`);
  });

  test("a deletion after an edit that was merged with somebody else's changes asks the user, who has not seen them", async () => {
    const { session, answer } = await sendDuringTheirChange();
    session.actions.remove(shown(session, "Mine"));
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
    session.actions.save(shown(session, "One"), item(ids.one, '"Name":"Mine","Notes":""'));
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
    session.actions.add(entry("One"));
    await eventually(async () => expect(await service.list()).toContain("One"));
    await eventually(() => shown(session, "One").pending);
    session.actions.save(shown(session, "One"), shown(session, "One").json.replace("One", "Two"));
    network.state = "up";
    session.reconnect();
    await untilSent(session);
    expect(JSON.parse(await service.list())).toMatchObject([{ Name: "Two" }]);
    expect(session.items).toMatchObject([{ conflict: undefined, problem: undefined, fields: { name: "Two" } }]);
  });

  test("keeping both leaves the other version and adds the user's as a new item", async () => {
    const { service, session } = await openWithConflict();
    session.decisions.decide(ids.one, "both");
    await untilSent(session);
    const [theirs, mine] = JSON.parse(await service.list());
    expect(theirs).toEqual({ ID: ids.one, Name: "Theirs" });
    expect(mine).toEqual({ ID: expect.not.stringMatching(ids.one), Name: "Mine" });
  });
});

test("a refused item stays with the reason, and can be corrected or discarded", async () => {
  const { service, session, names } = await open({ bodyBytesMax: 150 });
  session.start();
  session.actions.add(entry("x".repeat(200)));
  await eventually(async () => expect(session.notices.all).toHaveLength(1));
  expect(session.notices.all[0]).toMatchObject({ kind: "problem", action: undefined });
  expect(session.notices.all[0]?.text).toMatch(/^“x{39}…” was not added: .*150 bytes/);
  const refused = shown(session, "x".repeat(200));
  expect(refused.problem).toContain("150 bytes");
  session.actions.save(refused, refused.json.replace("x".repeat(200), "short"));
  await untilSent(session);
  expect(shown(session, "short").problem).toBeUndefined();
  session.actions.save(shown(session, "short"), refused.json);
  await eventually(() => shown(session, "x".repeat(200)).problem !== undefined);
  session.decisions.discardRefused(refused.id);
  expect(names()).toEqual(["short"]);
  expect(JSON.parse(await service.list())).toMatchObject([{ Name: "short" }]);
});

test("discarding a refused item can be undone: it is shown again with the reason", async () => {
  const { session, names } = await open({ bodyBytesMax: 150 });
  session.start();
  session.actions.add(entry("x".repeat(200)));
  await eventually(() => expect(session.items[0]?.problem).toContain("150 bytes"));
  session.decisions.discardRefused(session.items[0]?.id ?? "");
  expect(names()).toEqual([]);
  session.undo.undoNewest();
  expect(session.items[0]?.problem).toContain("150 bytes");
});

test("edits that were discarded while they waited for a sign-in can be brought back, and are sent after it", async () => {
  const { service, session, outbox, names } = await open(await guarded("writes"));
  session.start();
  await untilLive(session);
  session.actions.add(entry("One"));
  session.actions.add(entry("Two"));
  await eventually(async () => expect(session.signIn.form).toBeDefined());
  session.signIn.cancel();
  session.decisions.discardUnsent();
  expect(names()).toEqual([]);
  const undo = session.notices.all.find(({ text }) => text === "Discarded 2 changes");
  session.notices.act(undo?.key ?? -1);
  expect(names()).toEqual(["Two", "One"]);
  expect(outbox.unsentCount).toBe(2);
  session.signIn.submit({ username: "ann", password: "secret" });
  await untilSent(session);
  expect(JSON.parse(await service.list())).toMatchObject([{ Name: "One" }, { Name: "Two" }]);
});

test("edits that wait for a sign-in can be discarded", async () => {
  const { session, names } = await open(await guarded("writes"));
  session.start();
  await untilLive(session);
  session.actions.add(entry("One"));
  await eventually(async () => expect(session.signIn.form).toBeDefined());
  session.signIn.cancel();
  session.decisions.discardUnsent();
  expect([session.outbox.unsentCount, names()]).toEqual([0, []]);
});

describe("edits of an earlier visit or for another store", () => {
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

  test("held edits that were discarded can be brought back, and are not sent before the user confirms them", async () => {
    const { service, network, outbox, session } = await open();
    outbox.restore([kept("another")], false);
    session.start();
    await untilLive(session);
    session.decisions.decideHeld("discard");
    expect(session.decisions.heldNames).toEqual([]);
    session.undo.undoNewest();
    expect(session.decisions.heldNames).toEqual(["“Two”"]);
    expect(network.requests).not.toContain("POST /api/todoitems/");
    session.decisions.decideHeld("send");
    await untilSent(session);
    expect(await service.list()).toBe(`[${named(ids.two, "Two")}]`);
  });

  test("discarding held edits does not ask for a sign-in", async () => {
    const { outbox, session } = await open(await guarded("all"));
    outbox.restore([kept("another")], true);
    session.start();
    await eventually(() => session.signIn.form !== undefined);
    session.signIn.cancel();
    session.decisions.decideHeld("discard");
    expect([session.decisions.heldNames, session.signIn.form]).toEqual([[], undefined]);
  });

  for (const which of ["send", "discard"] as const) {
    test(`edits made on another store are not sent before the user has decided to ${which} them`, async () => {
      const { service, network, outbox, session } = await open();
      outbox.restore([kept("another")], false);
      session.start();
      await untilLive(session);
      expect([session.decisions.heldNames, session.items, session.outbox.unsentCount]).toEqual([["“Two”"], [], 0]);
      expect(network.requests).not.toContain("POST /api/todoitems/");
      session.decisions.decideHeld(which);
      await untilSent(session);
      expect(session.decisions.heldNames).toEqual([]);
      expect(await service.list()).toBe(which === "send" ? `[${named(ids.two, "Two")}]` : "[]");
    });
  }

  test("if another store answers, the waiting edits are held and named, and Undo is no longer offered", async () => {
    const { service, network, session, names } = await open();
    await service.create(named(ids.one, "One"));
    session.start();
    await untilLive(session);
    const one = shown(session, "One");
    network.state = "down";
    network.breakFeeds();
    await eventually(() => session.list.connection === "lost");
    session.actions.add(entry("Two"), entry("Three"));
    session.actions.remove(one);
    expect(session.notices.all.map(({ text }) => text)).toEqual(["Added 2 items", "Deleted “One”"]);
    session.undo.offerDraft(one, () => {});
    const other = await Service.on(new MemoryEngine());
    network.service = other;
    network.state = "up";
    session.reconnect();
    await eventually(() => expect(session.decisions.heldNames).toEqual(["“Three”", "“Two”", "the deletion of “One”"]));
    const texts = () => session.notices.all.map(({ text }) => text);
    await eventually(() => expect([names(), texts()]).toEqual([[], ["Your change of “One” was not saved."]]));
    session.undo.undoNewest();
    expect([session.decisions.heldNames.length, network.requests.includes("DELETE /api/todoitems/")]).toEqual([
      3,
      false,
    ]);
    // The first store is back. The edits were made for it, so there is nothing to ask.
    network.service = service;
    network.breakFeeds();
    await untilSent(session);
    await eventually(() => expect([session.decisions.heldNames, names()]).toEqual([[], ["Two", "Three"]]));
    session.list.rest();
    await other.collection.close();
  });
});
