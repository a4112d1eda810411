// Runs the clients in examples/ that need no compiler against the real program, and compares what they print with the
// transcripts beside them. `UPDATE_EXAMPLES=1 npm test -- test/examples` writes new transcripts. Also sends the
// requests in examples/todoitems.http.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bunCommand } from "../bun-command.ts";
import { checkedFetch } from "../description/checked-answer.ts";
import { Program, projectFolder } from "../program.ts";
import { expectTranscript, hasPython } from "./transcript.ts";

const examples = join(projectFolder, "examples");
let program: Program;
beforeEach(async () => {
  program = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
});
afterEach(async () => {
  await program.stop();
});

function environment() {
  return { ...process.env, TODOITEMS_SERVER: program.origin };
}

/** Runs a program to its end. Returns its standard output or, if that is empty, its standard error. */
async function outputOf(...command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], {
    env: environment(),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return stdout === "" ? stderr : stdout;
}

test("the example in curl prints its transcript", async () => {
  expectTranscript("curl/transcript.txt", await outputOf("sh", join(examples, "curl/todo.sh")));
});

test("the example in TypeScript prints its transcript", async () => {
  expectTranscript("typescript/transcript.txt", await outputOf(...bunCommand, join(examples, "typescript/todo.ts")));
});

test.if(hasPython)("the example in Python prints its transcript", async () => {
  expectTranscript("python/transcript.txt", await outputOf("python3", join(examples, "python/todo.py")));
});

test("the requests in todoitems.http get the answers that their titles promise", async () => {
  const file = readFileSync(join(examples, "todoitems.http"), "utf8");
  const variables = new Map([...file.matchAll(/^@(\w+) = (.*)$/gm)].map(([, name = "", value = ""]) => [name, value]));
  variables.set("server", program.origin);
  const statuses: number[] = [];
  for (const block of file.split(/^### .*\n/m).slice(1)) {
    const text = block.replace(/\{\{(\w+)\}\}/g, (_, name) => variables.get(name) ?? "");
    const [head = "", body = ""] = text.split("\n\n");
    const [line = "", ...fields] = head.trim().split("\n");
    const [method = "", url = ""] = line.split(" ");
    const headers = Object.fromEntries(fields.map((field) => field.split(": ")));
    const response = await checkedFetch(url, { method, headers, ...(body.trim() === "" ? {} : { body }) });
    statuses.push(response.status);
  }
  expect(statuses).toEqual([200, 201, 200, 204, 412, 409, 200, 204, 200]);
});
