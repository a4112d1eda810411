// `done` and `remove` with several IDs: all of them are looked up before the first item is changed, and a failure says
// what was changed and what was not.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ids, item } from "../service.ts";
import { CommandLine } from "./command-line.ts";

let commandLine: CommandLine;
beforeAll(async () => {
  commandLine = await CommandLine.start();
});
afterAll(() => commandLine.dispose());
beforeEach(() => commandLine.clear());

const [milk, bread, tea] = [ids.one, ids.two, ids.three];
const isDone = '"Done":true';
const missing = "99999999-9999-4999-8999-999999999999";
const alsoMissing = "88888888-8888-4888-8888-888888888888";
const storeThree = (more = "") =>
  commandLine.store(
    item(milk, `"Name":"milk"${more}`),
    item(bread, `"Name":"bread"${more}`),
    item(tea, `"Name":"tea"${more}`),
  );

describe("an ID that no item has", () => {
  for (const [command, flags, consequence] of [
    ["done", [], "No item was changed."],
    ["done", ["--undo"], "No item was changed."],
    ["remove", [], "No item was removed."],
  ] as const) {
    const name = [command, ...flags].join(" ");

    test(`${name} names the missing ID, and leaves all items as they are`, async () => {
      await storeThree(`,"Done":${flags.length > 0}`);
      const before = await commandLine.service.list();
      expect(await commandLine.run(command, [...flags, milk, missing, tea])).toEqual({
        exitCode: 1,
        stdout: "",
        stderr: `error: No item has the ID ${missing}. ${consequence} Items are chosen by their IDs, which todoitems list shows.\n`,
      });
      expect(await commandLine.service.list()).toBe(before);
    });

    test(`${name} names all missing IDs at once`, async () => {
      await storeThree();
      const { stderr } = await commandLine.run(command, [...flags, missing, milk, "e206", alsoMissing]);
      expect(stderr).toStartWith(
        `error: No item has the ID ${missing}. No item has an ID that begins with e206. No item has the ID ${alsoMissing}. ${consequence}`,
      );
    });
  }
});

/** Runs a command through a proxy. The proxy calls `onAnswer` after each request, before it passes the answer on. */
async function runThroughProxy(
  command: string,
  args: readonly string[],
  onAnswer: (method: string, path: string) => unknown,
) {
  using proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { method, headers } = request;
      const path = new URL(request.url).pathname;
      const body = await request.text();
      const answer = await commandLine.service.fetch(path, { method, headers, ...(body === "" ? {} : { body }) });
      await onAnswer(method, path);
      return answer;
    },
  });
  return await commandLine.run(command, [...args, "--server", proxy.url.href]);
}

test("the list is read once for all short IDs, however many there are", async () => {
  await storeThree();
  const reads: string[] = [];
  const count = (method: string, path: string) => method === "GET" && reads.push(path);
  expect(await runThroughProxy("remove", ["1111", "2222", "333333"], count)).toMatchObject({ exitCode: 0 });
  expect(reads).toEqual(["/api/todoitems/", ...[milk, bread, tea].map((id) => `/api/todoitems/${id}`)]);
});

describe("an item that somebody deletes in the meantime", () => {
  /** Runs a command, and deletes `bread` right after the first write. */
  function runWithDeletion(command: string, args: readonly string[]) {
    let hasDeleted = false;
    return runThroughProxy(command, args, async (method) => {
      if (method === "GET" || hasDeleted) return;
      hasDeleted = true;
      await commandLine.service.fetch(`/api/todoitems/${bread}`, { method: "DELETE" });
    });
  }

  test("done says which items were marked and which were not", async () => {
    await storeThree();
    expect(await runWithDeletion("done", [milk, bread, tea])).toEqual({
      exitCode: 1,
      stdout: "Done: milk (11111111)\n",
      stderr:
        "error: bread (22222222): somebody deleted this item in the meantime. Marked: milk (11111111). Not marked: bread (22222222), tea (33333333).\n",
    });
    expect(await commandLine.service.list()).toBe(
      `[${item(milk, `"Name":"milk",${isDone}`)},${item(tea, '"Name":"tea"')}]`,
    );
  });

  test("remove says which items were removed and which were not", async () => {
    await storeThree();
    expect(await runWithDeletion("remove", [milk, bread, tea])).toEqual({
      exitCode: 1,
      stdout: "Removed: milk (11111111)\n",
      stderr:
        "error: bread (22222222): somebody deleted this item in the meantime. Removed: milk (11111111). Not removed: bread (22222222), tea (33333333).\n",
    });
    expect(await commandLine.service.list()).toBe(`[${item(tea, '"Name":"tea"')}]`);
  });
});

test("done takes an ID that is given twice as one, whatever its letter case", async () => {
  const id = "aaaaaaaa-1111-4111-8111-111111111111";
  await commandLine.store(item(id, '"Name":"milk"'));
  expect((await commandLine.run("done", [id, id.toUpperCase()])).stdout).toBe("Done: milk (aaaaaaaa)\n");
});
