// The command line itself: commands and their other names, flags, arguments and help.

import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { allCommands, commandNames, findCommand } from "../../src/commands/command-list.ts";
import { projectFolder } from "../program.ts";
import { runHere } from "./command-line.ts";

test("each command has a file of its name and is in the documents; beside them are only their list and run.ts", async () => {
  const files = readdirSync(join(projectFolder, "src/commands"), { withFileTypes: true });
  const names = files.filter((entry) => entry.isFile()).map(({ name }) => name.replace(".ts", ""));
  expect(names.sort()).toEqual([...commandNames, "command-list", "run"].sort());
  expect((await allCommands()).map(({ name }) => name)).toEqual(commandNames);
  const document = readFileSync(join(projectFolder, "docs/command-line.md"), "utf8");
  expect(commandNames.filter((name) => !new RegExp(`\`(?:npx todoitems )?${name}[ \`]`).test(document))).toEqual([]);
});

test("the words that people type work", async () => {
  for (const [word, name] of Object.entries({
    ls: "list",
    rm: "remove",
    delete: "remove",
    complete: "done",
    new: "add",
    "--help": "help",
    "-h": "help",
    "--version": "version",
  }))
    expect((await findCommand(word))?.name).toBe(name);
  for (const word of ["toString", "", "constructor"]) expect(await findCommand(word)).toBeUndefined();
});

test("help lists every command, and explains a single one with all its flags", async () => {
  const { stdout } = await runHere(["help"]);
  for (const { name, summary } of await allCommands())
    expect(stdout).toMatch(new RegExp(`^ {2}${name} .*${summary}$`, "m"));
  for (const words of [
    ["help", "list"],
    ["ls", "--help"],
    ["list", "--open", "-h"],
    ["help", "ls"],
  ]) {
    const help = await runHere(words);
    expect(help.exitCode).toBe(0);
    for (const text of ["todoitems list: show the items", "--search TEXT", "-s, --server URL"])
      expect(help.stdout).toContain(text);
  }
  expect((await runHere(["list", "--version"])).stdout).toBe(`${version}\n`);
});

describe("a mistake is a usage error, and says what was meant", () => {
  for (const [words, message] of [
    [["lsit"], "There is no command lsit. Did you mean todoitems list?"],
    [["xyzzy"], "There is no command xyzzy. For a list of commands: todoitems help"],
    [["help", "lsit"], "Did you mean todoitems list?"],
    [["help", "nope"], "There is no command nope. For a list of commands: todoitems help"],
    [["-u", "ann", "add", "x"], "Flags go after the command, as in todoitems add -u …"],
    [["--port", "80", "--demo", "serve"], "Flags go after the command, as in todoitems serve --port …"],
    [["--prot", "80"], "--prot: there is no such flag; did you mean --port?"],
    [["list", "--serch", "x"], "--serch: there is no such flag; did you mean --search?"],
    [["list", "-open"], "-open: there is no such flag; did you mean --open?"],
    [["add", "-nsoon", "x"], "-nsoon: there is no such flag"],
    [["add", "-5", "degrees"], "-5: there is no such flag; if it is an argument, put -- before it"],
    [["list", "--format", "csv"], "--format: there is no such flag\n"],
    [["--frobnicate"], "--frobnicate: there is no such flag\n"],
    [["list", "--search"], "--search: needs a value, as in --search TEXT"],
    [["list", "--search", "--open"], "--search: needs a value"],
    [["list", "--open=yes"], "--open: takes no value"],
    [["list", "--form", "c"], "--form c: expected one of a, b"],
    [["list", "milk"], "Unexpected argument: milk"],
    [["show"], "Missing argument: ID"],
    [["check", "a.db", "b.db"], "Unexpected argument: b.db"],
    [["check", "a.db", "--store", "sqlite:b.db"], "There are two stores"],
    [["backup", "--store", "memory:"], "A store in memory ends with its service"],
    [["restore", "x", "--store", "postgres://ann:secret@"], "--store: "],
  ] as const)
    test(words.join(" "), async () => {
      const { exitCode, stdout, stderr } = await runHere(words);
      expect({ exitCode, stdout, stderr }).toEqual({
        exitCode: 2,
        stdout: "",
        stderr: expect.stringContaining(message),
      });
      expect(stderr).not.toContain("secret");
      if (words[0] === "help") expect(stderr).not.toContain("help help");
      else if (commandNames.includes(words[0])) expect(stderr).toEndWith(`For help: todoitems help ${words[0]}\n`);
    });

  test("all mistakes are named at once", async () => {
    const { stderr } = await runHere(["list", "--serch", "--form", "c", "-x"]);
    for (const word of ["--serch", "--form c", "-x"]) expect(stderr).toContain(`${word}: `);
  });
});
