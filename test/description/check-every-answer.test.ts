// A service that a test starts notices if it is about to send a response that the description does not have.

import { afterEach, expect, test } from "bun:test";
import { appendFileSync, cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { RawConnection } from "../http/raw-connection.ts";
import { Program, projectFolder } from "../program.ts";

const folder = temporaryFolder();
afterEach(() => folder.dispose());

/** Makes an app send a member and an event that are not described. It is added to the end of `src/http/app.ts`. */
const wrongAnswers = `
const handle = App.prototype.handle;
App.prototype.handle = function (request) {
  const answer = handle.call(this, request);
  const withBody = (answer, body) => Object.create(answer, { body: { value: body } });
  if (request.path === "/health/live") return withBody(answer, '{"status":"live","since":1}');
  if (request.path === "/changes/events") return answer.then((answer) => withBody(answer, feed));
  return answer;
};
const feed = {
  open(sink) {
    sink.write(new TextEncoder().encode("event: unknown\\ndata: {}\\n\\n"));
    return { pull() {}, cancel() {} };
  },
};
`;

test("a service of another build sends no member and no event that is not described, and stopping it fails the test", async () => {
  for (const name of ["src", "package.json", "openapi.yaml"])
    cpSync(join(projectFolder, name), join(folder.path, name), { recursive: true });
  symlinkSync(join(projectFolder, "node_modules"), join(folder.path, "node_modules"));
  appendFileSync(join(folder.path, "src/http/app.ts"), wrongAnswers);

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
