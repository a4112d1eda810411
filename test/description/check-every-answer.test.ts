// A service that a test starts notices if it is about to send an answer that the description does not have.

import { afterEach, expect, test } from "bun:test";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { RawConnection } from "../http/raw-connection.ts";
import { Program, projectFolder } from "../program.ts";
import { undescribed } from "./checked-answer.ts";

const folder = temporaryFolder();
afterEach(() => folder.dispose());

test("a worker of another build does not send an answer that is not described, and stopping it fails the test", async () => {
  for (const name of ["src", "package.json"])
    cpSync(join(projectFolder, name), join(folder.path, name), { recursive: true });
  symlinkSync(join(projectFolder, "node_modules"), join(folder.path, "node_modules"));
  const file = join(folder.path, "src/http/health.ts");
  const source = readFileSync(file, "utf8");
  const described = '"live"';
  expect(source).toContain(described);
  writeFileSync(file, source.replace(described, "1"));

  const store = `sqlite:${join(folder.path, "store.db")}`;
  const program = await Program.start({
    args: ["--port", "0", "--workers", "2", "--store", store],
    folder: folder.path,
  });
  const connection = await RawConnection.open(Number(new URL(program.origin).port));
  connection.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  expect(await connection.untilClosed()).toBe("");
  await expect(program.stop()).rejects.toThrow(undescribed);
});
