// Tests the program when the system allows it few open files and sockets.

import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { eventually } from "../eventually.ts";
import { Program } from "../program.ts";

const descriptorsMax = 160;
const launcher = ["sh", "-c", `ulimit -n ${descriptorsMax}; exec "$@"`, "sh"];

let program: Program;
const connections: Socket[] = [];

afterEach(async () => {
  for (const connection of connections.splice(0)) connection.destroy();
  await program.stop("SIGKILL");
});

function openMore(count: number): void {
  const port = Number(new URL(program.origin).port);
  for (let opened = 0; opened < count; opened++) {
    // If the program drops a connection, the client may see an error. It is ignored.
    connections.push(connect(port, "127.0.0.1").on("error", () => {}));
  }
}

/** The processor time that the program has used, in hundredths of a second. */
function processorTime(): number {
  const fields = readFileSync(`/proc/${program.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

test.skipIf(process.platform !== "linux")(
  "more connections than the program has descriptors do not keep it busy, and it goes on serving",
  async () => {
    program = await Program.start({ args: ["--port", "0", "--store", "memory:"], launcher });
    openMore(2 * descriptorsMax);
    await eventually(() => connections.some(({ destroyed }) => destroyed));
    const before = processorTime();
    // This test is about time, so it has to sleep.
    await Bun.sleep(1_500);
    expect(processorTime() - before).toBeLessThan(50);
    // By now the first connections have been idle long enough. The program closes them to make room for others.
    openMore(1);
    await eventually(async () => (await program.list()) === "[]");
    expect((await program.stop()).stderr).not.toContain("error");
  },
);
