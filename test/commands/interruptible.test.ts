// What Ctrl-C leaves behind if a command is writing a file: nothing, or the old file.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Change } from "../../src/collection/engine.ts";
import { describeFailure } from "../../src/commands/failure.ts";
import { copyStore } from "../../src/commands/stores/store-copy.ts";
import { eventually } from "../eventually.ts";
import { programCommand, programEnvironment } from "../program.ts";
import { ids, item } from "../service.ts";
import { CommandLine } from "./command-line.ts";

let commandLine: CommandLine;
beforeAll(async () => {
  commandLine = await CommandLine.start();
});
afterAll(() => commandLine.dispose());

for (const [signal, exitCode] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  test(`an export that ${signal} ends keeps the old file, removes the unfinished one and says so`, async () => {
    // A service that sends the first item of its list, and then nothing more.
    const stalled = Bun.serve({
      port: 0,
      idleTimeout: 0,
      fetch: () =>
        new Response(
          new ReadableStream({
            async pull(controller) {
              controller.enqueue(new TextEncoder().encode(`[${item(ids.one)},`));
              await new Promise(() => {});
            },
          }),
          { headers: { "Content-Type": "application/json" } },
        ),
    });
    const path = commandLine.path("items.json");
    writeFileSync(path, "[]");
    const running = Bun.spawn(
      [...programCommand(), "export", path, "--force", "--server", `http://localhost:${stalled.port}`],
      { env: programEnvironment(commandLine.environment), stderr: "pipe" },
    );
    await eventually(() => existsSync(`${path}.partial`));
    running.kill(signal);
    expect(await new Response(running.stderr).text()).toBe(`error: Interrupted: ${path} stays as it was.\n`);
    expect(await running.exited).toBe(exitCode);
    expect([readFileSync(path, "utf8"), existsSync(`${path}.partial`)]).toEqual(["[]", false]);
    await stalled.stop(true);
  });

test("a backup that Ctrl-C ends leaves no file, however fast the items come", async () => {
  const giveUpAt = performance.now() + 20_000;
  const snapshot = {
    itemCount: 1_000_000,
    async *items(): AsyncGenerator<Change> {
      for (let version = 1; performance.now() < giveUpAt; version++) {
        // The launcher passes Ctrl-C on, so it comes twice.
        if (version === 3 || version === 4) process.emit("SIGINT", "SIGINT");
        const id = `00000000-0000-4000-8000-${String(version).padStart(12, "0")}`;
        yield { id, json: item(id), version, position: version };
      }
    },
    async close() {},
  };
  const before = readdirSync(commandLine.path("."));
  const failure = await copyStore(snapshot, commandLine.path("backup.db")).catch(describeFailure);
  expect(failure).toEqual({
    message: `Interrupted: ${commandLine.path("backup.db")} was not written.`,
    exitCode: 130,
  });
  expect(readdirSync(commandLine.path("."))).toEqual(before);
});
