// Signing in and out, and the form that asks for it. The service is the real one, in this process.

import { expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { keptEdit } from "../../src/page/outbox-entry.ts";
import { eventually } from "../eventually.ts";
import { ids, Service } from "../service.ts";
import {
  entry,
  guarded,
  named,
  numbered,
  shown,
  signIn,
  untilLive,
  untilSent,
  useSessions,
} from "./session-fixture.ts";

const { open } = useSessions();

test("if the list needs credentials, the page asks for them, reports wrong ones, and shows the list after the sign-in", async () => {
  const { session } = await open(await guarded("all"));
  session.start();
  await eventually(async () => expect(session.signIn.form).toEqual({ problem: undefined, busy: false }));
  session.signIn.submit({ username: "ann", password: "wrong" });
  expect(session.signIn.form).toEqual({ problem: undefined, busy: true });
  await eventually(async () =>
    expect(session.signIn.form).toEqual({ problem: "The name or the password is wrong.", busy: false }),
  );
  session.signIn.submit({ username: "ann", password: "secret" });
  await eventually(() => session.signIn.form === undefined);
  expect([session.list.loaded, session.signIn.username]).toEqual([true, "ann"]);
  session.signIn.signOut();
  expect([session.items, session.list.loaded]).toEqual([[], false]);
  await eventually(async () => expect(session.signIn.form).toBeDefined());
});

test("if only writes need credentials, the first edit asks for them and is sent after the sign-in", async () => {
  const { service, session } = await open(await guarded("writes"));
  session.start();
  await untilLive(session);
  session.actions.add(entry("One"));
  await eventually(async () => expect(session.signIn.form).toBeDefined());
  session.signIn.submit({ username: "ann", password: "secret" });
  await untilSent(session);
  expect(session.signIn.form).toBeUndefined();
  expect(JSON.parse(await service.list())).toMatchObject([{ Name: "One" }]);
});

test("if only writes need credentials, a sign-in with wrong ones is refused although the list can be read", async () => {
  const { service, network, session } = await open(await guarded("writes"));
  await service.collection.write({ kind: "create", item: { id: ids.one, json: named(ids.one, "One") } });
  session.start();
  await untilLive(session);
  for (const credentials of [
    { username: "ann", password: "wrong" },
    { username: "nobody", password: "secret" },
  ]) {
    const before = network.exchanges.length;
    session.signIn.openForm();
    session.signIn.submit(credentials);
    await eventually(() =>
      expect(session.signIn.form).toEqual({ problem: "The name or the password is wrong.", busy: false }),
    );
    expect(session.signIn.username).toBeUndefined();
    // A wrong password is sent with one request that is refused. More would count as more wrong passwords.
    expect(network.exchanges.slice(before).filter((exchange) => exchange.endsWith("401"))).toHaveLength(1);
  }
  const { version } = service.collection;
  session.signIn.submit({ username: "ann", password: "secret" });
  await eventually(() => session.signIn.form === undefined);
  expect([session.signIn.username, service.collection.version]).toEqual(["ann", version]);
});

test("if the service cannot check the password now, the form says why, and nobody is signed in", async () => {
  const { session } = await open(await guarded("writes"));
  session.start();
  await untilLive(session);
  session.signIn.openForm();
  // After five wrong passwords in a row, the service refuses to check more of them for a while.
  for (let count = 1; count <= 5; count++) {
    session.signIn.submit({ username: "ann", password: `wrong ${count}` });
    await eventually(() => session.signIn.form?.problem === "The name or the password is wrong.");
  }
  session.signIn.submit({ username: "ann", password: "secret" });
  await eventually(() => session.signIn.form?.problem?.startsWith("Too many wrong passwords") === true);
  session.signIn.cancel();
  await untilLive(session);
  expect(session.signIn.username).toBeUndefined();
});

test("credentials that were never accepted are called wrong when an edit is refused, not outdated", async () => {
  const { network, session } = await open(await guarded("writes"));
  session.start();
  await untilLive(session);
  await signIn(session);
  const changed = await Service.on(new MemoryEngine(), await guarded("writes", "another"));
  network.service = changed;
  session.reconnect();
  await untilLive(session);
  session.actions.add(entry("One"));
  const outdated = "You were signed out, because the service no longer accepts this name and password.";
  await eventually(() => expect(session.signIn.form).toEqual({ problem: outdated, busy: false }));
  session.signIn.submit({ username: "ann", password: "secret" });
  const wrong = "The name or the password is wrong.";
  await eventually(() => expect(session.signIn.form).toEqual({ problem: wrong, busy: false }));
  session.list.rest();
  await changed.collection.close();
});

test("while the user types, the form does not open by itself: the edits wait, and the user can open the form", async () => {
  let isTyping = true;
  const { service, session, names } = await open(await guarded("writes"), () => isTyping);
  session.start();
  await untilLive(session);
  session.actions.add(entry("One"));
  await eventually(() => session.signIn.isPostponed);
  session.actions.add(entry("Two"));
  expect([session.signIn.form, session.signIn.isPostponed, names()]).toEqual([undefined, true, ["Two", "One"]]);
  session.signIn.openForm();
  // The form is open, so the user is typing into the form itself. A wrong password must not close the form.
  session.signIn.submit({ username: "ann", password: "wrong" });
  await eventually(() => session.signIn.form?.problem !== undefined);
  session.signIn.cancel();
  isTyping = false;
  session.actions.setDone(shown(session, "Two"), true);
  await eventually(() => session.signIn.form !== undefined);
  session.signIn.submit({ username: "ann", password: "secret" });
  await untilSent(session);
  expect([session.signIn.form, service.collection.count]).toEqual([undefined, 2]);
});

test("a new list does not close the form while the user fills it in", async () => {
  const { network, session, names } = await open(await guarded("writes"));
  session.start();
  await untilLive(session);
  session.signIn.openForm();
  // Another store answers now, so the page gets a new list.
  network.service = await Service.on(new MemoryEngine(), {});
  await network.service.create(named(ids.one, "One"));
  session.reconnect();
  await eventually(() => expect(names()).toEqual(["One"]));
  expect(session.signIn.form).toBeDefined();
  session.list.rest();
  await network.service.collection.close();
});

test("if the first edit after the sign-in meets a conflict, the form closes and the conflict is shown", async () => {
  const { service, session } = await open(await guarded("writes"));
  await service.collection.write({ kind: "create", item: { id: ids.one, json: named(ids.one, "Before") } });
  session.start();
  await eventually(() => session.items.length === 1);
  const before = shown(session, "Before");
  session.actions.save(before, named(ids.one, "Mine"));
  await eventually(() => session.signIn.form !== undefined);
  const theirs = { id: ids.one, json: named(ids.one, "Theirs") };
  await service.collection.write({ kind: "update", item: theirs, condition: undefined });
  session.signIn.submit({ username: "ann", password: "secret" });
  await eventually(() => shown(session, "Mine").conflict !== undefined);
  expect(session.signIn.form).toBeUndefined();
});

test("cancelling sign-in keeps the edits, which wait quietly until the user signs in", async () => {
  const { service, network, session, names } = await open(await guarded("writes"));
  session.start();
  await untilLive(session);
  session.actions.add(entry("One"));
  await eventually(async () => expect(session.signIn.form).toBeDefined());
  session.signIn.cancel();
  expect([session.signIn.form, session.signIn.isPostponed, session.outbox.unsentCount, names()]).toEqual([
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
  session.signIn.openForm();
  session.signIn.submit({ username: "ann", password: "secret" });
  await untilSent(session);
  expect([session.signIn.isPostponed, JSON.parse(await service.list())]).toMatchObject([false, [{ Name: "One" }]]);
});

test("if the list needs credentials, the form can be closed, and opens again only if the user makes an edit or asks for it", async () => {
  const { service, session, names } = await open(await guarded("all"));
  session.start();
  await eventually(() => session.signIn.form !== undefined);
  session.signIn.cancel();
  const refusedAgain = new Promise<boolean>((resolve) => session.subscribe(resolve));
  session.reconnect();
  await refusedAgain;
  expect([session.signIn.form, session.list.connection, session.list.loaded]).toEqual([undefined, "signed-out", false]);
  session.actions.add(entry("One"));
  await eventually(() => session.signIn.form !== undefined);
  session.signIn.cancel();
  expect([session.outbox.unsentCount, names()]).toEqual([1, ["One"]]);
  session.signIn.openForm();
  session.signIn.submit({ username: "ann", password: "secret" });
  await untilSent(session);
  expect([session.list.connection, service.collection.count]).toEqual(["live", 1]);
});

test("after a sign-in the form closes, even if a refused item still waits to be corrected", async () => {
  const { session } = await open({ ...(await guarded("writes")), bodyBytesMax: 150 });
  session.start();
  await untilLive(session);
  await signIn(session);
  session.actions.add(entry("x".repeat(200)));
  await eventually(() => session.items[0]?.problem !== undefined);
  session.signIn.signOut();
  await untilLive(session);
  await signIn(session);
  expect([session.signIn.username, session.outbox.unsentCount]).toEqual(["ann", 1]);
});

test("deletions that can still be undone are sent when the user signs out, with the user's own credentials", async () => {
  for (const mode of ["writes", "all"] as const) {
    const { service, session } = await open(await guarded(mode));
    session.start();
    await eventually(() => session.list.connection !== "connecting");
    await signIn(session);
    for (let number = 0; number < 25; number++) session.actions.add(entry(`Item ${number}`));
    await untilSent(session);
    session.actions.remove(...session.items);
    session.signIn.signOut();
    await eventually(() => service.collection.count === 0);
    await untilSent(session);
  }
});

test("a deletion whose answer is still on its way when the user signs out is not sent again", async () => {
  const { network, session } = await open(await guarded("writes"));
  session.start();
  await untilLive(session);
  await signIn(session);
  session.actions.add(entry("One"));
  await untilSent(session);
  const { id } = shown(session, "One");
  session.actions.remove(shown(session, "One"));
  const answer = Promise.withResolvers<void>();
  network.answersAfter = answer.promise;
  session.signIn.signOut();
  await untilLive(session);
  session.reconnect();
  await untilLive(session);
  answer.resolve();
  await untilSent(session);
  expect(session.signIn.form).toBeUndefined();
  expect(network.requests.filter((request) => request === `DELETE /api/todoitems/${id}`)).toHaveLength(1);
});

for (const [then, reloads] of [
  ["", false],
  [", even after a reload", true],
] as const)
  test(`edits that are not sent when a user signs out wait until the same user signs in again, or another one confirms them${then}`, async () => {
    for (const username of ["ann", "bob"]) {
      const { service, network, outbox, session, names } = await open(
        await guarded("writes", "secret", ["ann", "bob"]),
      );
      session.start();
      await untilLive(session);
      await signIn(session);
      network.state = "down";
      network.breakFeeds();
      await eventually(() => session.list.connection === "lost");
      session.actions.add(entry("Hers"));
      session.signIn.signOut();
      expect([session.decisions.heldNames, names()]).toEqual([["“Hers”"], []]);
      if (reloads) {
        const kept = outbox.entries.map(keptEdit);
        session.leave();
        session.takeOver(kept, false);
      }
      network.state = "up";
      session.reconnect();
      await untilLive(session);
      await signIn(session, username);
      if (username === "bob") {
        expect([session.decisions.heldNames, service.collection.count]).toEqual([["“Hers”"], 0]);
        session.decisions.decideHeld("send");
      }
      await untilSent(session);
      await eventually(() => expect(names()).toEqual(["Hers"]));
      expect(session.decisions.heldNames).toEqual([]);
    }
  });

test("a page takes over the edits of a user who has signed out elsewhere, and sends them if it is the same user", async () => {
  for (const [owner, held] of [
    ["ann", []],
    ["bob", ["“Hers”"]],
  ] as const) {
    const { session } = await open(await guarded("writes"));
    session.start();
    await untilLive(session);
    await signIn(session);
    const id = numbered(1);
    session.takeOver([{ edit: { kind: "create", id, json: named(id, "Hers") }, epoch: undefined, owner }], false);
    await untilSent(session);
    expect(session.decisions.heldNames).toEqual([...held]);
  }
});

test("after signing in, the page reads the whole list", async () => {
  const { network, session } = await open(await guarded("writes"));
  session.start();
  await untilLive(session);
  await signIn(session);
  expect(network.exchanges.filter((exchange) => exchange === "/changes/delta 200")).toHaveLength(2);
});

test("if the service stops accepting the password, the form says why it asks again, also if it is opened later", async () => {
  for (const isTyping of [false, true]) {
    const { network, session } = await open(await guarded("all"), () => isTyping);
    session.start();
    await eventually(() => session.list.connection === "signed-out");
    await signIn(session);
    const changed = await Service.on(new MemoryEngine(), await guarded("all", "another"));
    network.service = changed;
    network.breakFeeds();
    session.reconnect();
    await eventually(() => session.list.connection === "signed-out");
    expect([session.signIn.username, session.signIn.isPostponed]).toEqual([undefined, isTyping]);
    if (isTyping) session.signIn.openForm();
    const problem = "You were signed out, because the service no longer accepts this name and password.";
    expect(session.signIn.form).toEqual({ problem, busy: false });
    session.signIn.submit({ username: "ann", password: "another" });
    await eventually(() => session.signIn.form === undefined);
    session.signIn.signOut();
    session.signIn.openForm();
    expect(session.signIn.form).toEqual({ problem: undefined, busy: false });
    session.list.rest();
    await changed.collection.close();
  }
});

test("a wrong password that could not be checked at once is reported as wrong, also if the form was closed meanwhile", async () => {
  for (const isClosed of [false, true]) {
    const { network, session } = await open(await guarded("all"));
    session.start();
    await eventually(() => session.signIn.form !== undefined);
    network.state = "down";
    session.signIn.submit({ username: "ann", password: "wrong" });
    await eventually(() => session.signIn.form?.problem !== undefined);
    if (isClosed) session.signIn.cancel();
    network.state = "up";
    session.reconnect();
    await eventually(() => session.list.connection === "signed-out");
    if (isClosed) session.signIn.openForm();
    expect(session.signIn.form).toEqual({ problem: "The name or the password is wrong.", busy: false });
  }
});
