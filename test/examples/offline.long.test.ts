// Runs the session in examples/python/offline-session.txt: two offline clients in Python, and a service that is stopped
// and restored from a backup in between. `UPDATE_EXAMPLES=1 npm test -- test/examples` writes a new session.

import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program, projectFolder, runProgram } from "../program.ts";
import { Device } from "./device.ts";
import { expectTranscript, hasPython, stepsOf } from "./transcript.ts";

const folder = temporaryFolder();
const store = ["--store", `sqlite:${join(folder.path, "todoitems.db")}`];
let program: Program | undefined;
const devices = new Map<string, Device>();
afterEach(async () => {
  for (const device of devices.values()) device.end();
  await program?.stop();
  folder.dispose();
});

async function start(port: string): Promise<Program> {
  program = await Program.start({ args: ["--port", port, ...store] });
  return program;
}

test.if(hasPython)(
  "the offline client survives conflicts, an outage and a restored backup",
  async () => {
    const { origin } = await start("0");
    const file = "python/offline-session.txt";
    let session = "";
    for (const { line } of stepsOf(readFileSync(join(projectFolder, "examples", file), "utf8"))) {
      session += `${line.startsWith("#") && session !== "" ? "\n" : ""}${line}\n`;
      const [, device, command = ""] = /^(\w+)> (.*)$/.exec(line) ?? [];
      if (device !== undefined) {
        const client = devices.get(device) ?? new Device(device, { folder: folder.path, server: origin });
        devices.set(device, client);
        // The reason for a failed connection depends on the operating system, so it is replaced.
        session += (await client.run(command)).replace(/^No connection: .*(?=\. Edits)/, "No connection: refused");
      } else if (line.startsWith("# The service stops")) await program?.stop();
      else if (line.startsWith("# The service starts")) await start(new URL(origin).port);
      else if (line.startsWith("$ todoitems ")) {
        const [name = "", backup = "", ...flags] = line.split(" ").slice(2);
        const { exitCode } = await runProgram(name, { args: [join(folder.path, backup), ...flags, ...store] });
        expect([line, exitCode]).toEqual([line, 0]);
      }
    }
    expectTranscript(file, session);
  },
  60_000,
);
