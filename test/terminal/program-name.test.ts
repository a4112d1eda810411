// Messages name commands as the user can type them. How the user can type a command depends on how the program was
// started.

import { expect, test } from "bun:test";
import { asWord } from "../../src/terminal/program-name.ts";
import { projectFolder, runProgram } from "../program.ts";

test("a program that npx has started names npx in its messages", async () => {
  const start = ["npx", "--no", "--", "todoitems"];
  const { stderr } = await runProgram("", { start, args: ["list", "--jsn"], cwd: projectFolder });
  expect(stderr).toContain("For help: npx todoitems help list\n");
});

test("a program that npm start has started names npx in its messages", async () => {
  const start = ["npm", "start", "--silent", "--"];
  const { stderr } = await runProgram("", { start, args: ["--jsn"], cwd: projectFolder });
  expect(stderr).toContain("\nnpx todoitems help serve lists the settings.\n");
});

test("a program that was started by its own name uses that name", async () => {
  const { stdout } = await runProgram("help", { args: ["add"] });
  expect(stdout).toContain("Usage: todoitems add [NAME…] [flags]\n");
  expect(stdout).toEndWith("\nExample: todoitems add Buy milk --field Price:=1.50\n");
});

test("a text in a command that is shown is one word of the shell, and has quotation marks only if it needs them", () => {
  const texts = [
    "",
    "it's",
    'Say "hi" $HOME',
    "a & b",
    "$5",
    "`ls`",
    "a\\b",
    "*",
    "~",
    "#1",
    "a;b",
    "-n",
    "Wow!",
    "two\nlines",
  ];
  for (const text of [...texts, "Straße", "Price:=1.50", "/tmp/a-b_c.db"]) {
    const { stdout } = Bun.spawnSync(["sh", "-c", `printf '%s|' ${asWord(text)} end`]);
    expect(stdout.toString()).toBe(`${text}|end|`);
  }
  expect(["milk", "Straße", "Price:=1.50", "Buy milk", "it's", "$5"].map(asWord)).toEqual([
    "milk",
    "Straße",
    "Price:=1.50",
    "'Buy milk'",
    "'it'\\''s'",
    "'$5'",
  ]);
});
