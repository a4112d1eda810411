// Messages name commands as the user can type them. How the user can type a command depends on how the program was
// started.

import { expect, test } from "bun:test";
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
  expect(stdout).toContain("Usage: todoitems add NAME… [flags]\n");
  expect(stdout).toEndWith("\nExample:\n  todoitems add Buy milk --field Price:=1.50\n");
});
