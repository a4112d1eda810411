// A service that a test starts notices if it is about to send a response that the description does not have.

import { afterEach, expect, test } from "bun:test";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { RawConnection } from "../http/raw-connection.ts";
import { Program, projectFolder } from "../program.ts";

const folder = temporaryFolder();
afterEach(() => folder.dispose());

/** Replaces a part of one file of the build in the folder. */
function breakBuild(path: string, part: string, replacement: string): void {
  const file = join(folder.path, path);
  const source = readFileSync(file, "utf8");
  expect(source).toContain(part);
  writeFileSync(file, source.replace(part, replacement));
}

test("a service of another build sends no member and no event that is not described, and stopping it fails the test", async () => {
  for (const name of ["src", "package.json", "openapi.yaml"])
    cpSync(join(projectFolder, name), join(folder.path, name), { recursive: true });
  symlinkSync(join(projectFolder, "node_modules"), join(folder.path, "node_modules"));
  breakBuild("src/http/health.ts", "JSON.stringify({ status: state })", "JSON.stringify({ status: state, since: 1 })");
  breakBuild("src/http/change-feed.ts", "event: ready", "event: unknown");

  const args = ["--port", "0", "--store", "memory:"];
  const program = await Program.start({ args, folder: folder.path });
  for (const path of ["/health/live", "/changes/events"]) {
    const connection = await RawConnection.open(Number(new URL(program.origin).port));
    connection.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    expect(await connection.untilClosed()).not.toMatch(/since|unknown/);
  }
  await expect(program.stop()).rejects.toThrow(
    /has since, which is not described[\s\S]*the event "unknown" is not described/,
  );
});
