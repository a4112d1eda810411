// The file of the store is moved away while a service runs, and put back. The service has set the log with the last
// commits aside. The next start and the commands for the store say so, and what they say to do brings the items back.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program, runProgram } from "../program.ts";

let folder: ReturnType<typeof temporaryFolder>;
let program: Program | undefined;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await program?.stop("SIGKILL");
  folder.dispose();
});

async function start(store: string): Promise<Program> {
  program = await Program.start({ args: ["--port", "0", "--store", `sqlite:${store}`] });
  return program;
}

test("a log that was set aside is named at the start and by check, doctor and recover, with the command that brings its items back", async () => {
  const store = join(folder.path, "my items.db");
  const setAside = `${store}-wal.set-aside-1`;
  const first = await start(store);
  for (const name of ["One", "Two", "Three"]) await first.send("POST", "/api/todoitems/", `{"Name":"${name}"}`);
  renameSync(store, `${store}.away`);
  expect((await first.send("POST", "/api/todoitems/", '{"Name":"Four"}')).status).toBe(503);
  renameSync(`${store}.away`, store);
  const { stderr: reason } = await first.stop();
  expect(reason).toContain(`rename the log to ${store}-wal before you start the service`);

  // All commits are in the log, so there is nothing to save in the file.
  const { stderr: nothing } = await runProgram("recover", { args: [store, join(folder.path, "new.db")] });
  expect(nothing.replace(/\s+/g, " ")).toContain(
    `Nothing could be saved: no row of ${store} is intact. ${setAside} has`,
  );

  const second = await start(store);
  expect(await second.list()).toBe("[]");
  const { stderr: warning } = await second.stop();
  expect(warning).toContain(`${setAside} has the last commits of a store that was moved away or replaced`);
  const [, command = ""] = /and run: (mv .*?)\. Otherwise delete/.exec(warning) ?? [];

  const environment = { XDG_DATA_HOME: folder.path };
  for (const [name, ...args] of [
    ["check", store],
    ["doctor", "--port", "0", "--store", `sqlite:${store}`],
  ] as const) {
    const { stdout } = await runProgram(name, { args, environment });
    expect([name, stdout.replace(/\s+/g, " ")]).toEqual([name, expect.stringContaining(`and run: ${command}.`)]);
  }

  Bun.spawnSync(["sh", "-c", command]);
  const third = await start(store);
  expect(JSON.parse(await third.list())).toMatchObject([{ Name: "One" }, { Name: "Two" }, { Name: "Three" }]);
  expect((await third.stop()).stderr).not.toContain("set-aside");
});
