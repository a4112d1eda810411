// The shells themselves complete command lines with our scripts. zsh and fish are tested if they are installed.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { programCommand, programEnvironment, runProgram } from "../program.ts";

const folder = temporaryFolder();
const path = (name: string) => join(folder.path, name);

beforeAll(async () => {
  mkdirSync(path("files"));
  for (const name of ["one file.csv", "other.csv"]) writeFileSync(path(`files/${name}`), "");
  for (const [shell, file] of Object.entries({ bash: "bash", fish: "fish", zsh: "_todoitems" }))
    writeFileSync(path(file), (await runProgram("completion", { args: [shell] })).stdout);
});
afterAll(() => folder.dispose());

const files = ["one file.csv", "other.csv"];

/** What is offered for each command line. The last word of the line is empty or the beginning of a word. */
const offers: Record<string, string[]> = {
  "todoitems ex": ["export"],
  "todoitems import --on": ["--on-conflict"],
  "todoitems import --on-conflict s": ["skip"],
  "todoitems import o": files,
  "todoitems import -s x o": files,
  "todoitems import x o": [],
  "todoitems import --password-file o": files,
  "todoitems check o": files,
  "todoitems backup --store ": ["postgres://", "sqlite:"],
  "todoitems backup --store oth": [],
  "todoitems list ": [],
  "todoitems add o": [],
  "todoitems show ": [],
  "todoitems list --form ": ["a", "b"],
  "todoitems list --server ": [],
  "todoitems list -p ": [],
  "todoitems user ": ["add", "list", "remove"],
  "todoitems user --users x ": ["add", "list", "remove"],
  "todoitems user add ": [],
  "todoitems completion ": ["bash", "fish", "zsh"],
  "todoitems help ed": ["edit"],
  "todoitems serve o": [],
  "todoitems serve --read": ["--read-only"],
  "todoitems serve --forms ": ["a", "b", "both"],
  "todoitems serve --auth ": ["all", "off", "writes"],
  "todoitems serve --field-names ": ["as-sent", "camel", "pascal"],
  "todoitems serve --log j": ["json"],
  "todoitems serve --store ": ["memory:", "postgres://", "sqlite:"],
  "todoitems serve --users o": files,
  "todoitems serve --idle-timeout ": [],
};

describe("bash", () => {
  test("bash offers what may stand there, and nothing else", () => {
    const questions = Object.keys(offers).map((line) => {
      const words = line.split(" ").map((word) => `"${word}"`);
      return `COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _todoitems; (IFS='|'; echo "\${COMPREPLY[*]}")`;
    });
    const script = ["compopt() { :; }", `source "${path("bash")}"`, ...questions].join("\n");
    const { stdout } = Bun.spawnSync(["bash", "-c", script], { cwd: path("files") });
    const answers = stdout.toString().trimEnd().split("\n");
    const found = Object.keys(offers).map((line, index) => [line, (answers[index] ?? "").split("|").sort()]);
    expect(found).toEqual(Object.entries(offers).map(([line, words]) => [line, words.length > 0 ? words : [""]]));
  });

  test("bash completes the value in --flag=value", () => {
    const script = `source "${path("bash")}"; COMP_WORDS=(todoitems serve --forms = bo); COMP_CWORD=4; _todoitems; echo "\${COMPREPLY[*]}"`;
    expect(Bun.spawnSync(["bash", "-c", script]).stdout.toString()).toBe("both\n");
  });
});

describe("fish", () => {
  const fish = Bun.which("fish");
  test.skipIf(fish === null)("fish offers what may stand there, and nothing else", () => {
    const questions = Object.keys(offers).map((line) => `echo (string join -- '|' (complete -C '${line}' | cut -f1))`);
    const script = [`source "${path("fish")}"`, ...questions].join("\n");
    const { stdout } = Bun.spawnSync([fish ?? "", "--no-config", "-c", script], {
      cwd: path("files"),
      env: { ...process.env, HOME: folder.path },
    });
    const answers = stdout.toString().trimEnd().split("\n");
    const found = Object.keys(offers).map((line, index) => [
      line,
      (answers[index] ?? "")
        .split("|")
        .map((word) => word.replaceAll("\\", ""))
        .sort(),
    ]);
    expect(found).toEqual(Object.entries(offers).map(([line, words]) => [line, words.length > 0 ? words : [""]]));
  });
});

/** Makes a home folder, and runs the commands there with which the help says to keep the scripts. */
async function keepScripts(home: string): Promise<void> {
  mkdirSync(home);
  const { stdout } = await runProgram("help", { args: ["completion"] });
  const commands = stdout.split("\n").filter((line) => /^ {2}(mkdir|todoitems|echo) /.test(line));
  const program = programCommand().map((word) => `"${word}"`);
  const script = [`todoitems() { ${program.join(" ")} "$@"; }`, "set -e", ...commands].join("\n");
  const { exitCode, stderr } = Bun.spawnSync(["bash", "-c", script], { env: programEnvironment({ HOME: home }) });
  expect([exitCode, stderr.toString()]).toEqual([0, ""]);
}

describe("zsh", () => {
  const zsh = Bun.which("zsh");
  test.skipIf(zsh === null)("zsh completes commands, flags, values and files", async () => {
    let output = "";
    const home = path("home of zsh");
    await keepScripts(home);
    const shell = Bun.spawn([zsh ?? "", "-i"], {
      cwd: path("files"),
      env: { ...process.env, TERM: "dumb", HOME: home, ZDOTDIR: home },
      terminal: {
        cols: 200,
        rows: 24,
        data(_, bytes) {
          output += new TextDecoder().decode(bytes);
        },
      },
    });
    const type = (text: string) => shell.terminal?.write(text);
    type('PS1=; todoitems() { print "<$@>"; }\n');
    for (const [typed, completed] of [
      ["todoitems expo\t\n", "<export>"],
      ["todoitems import --on-c\tsk\t\n", "<import --on-conflict skip>"],
      ["todoitems serve --field-names ca\t\n", "<serve --field-names camel>"],
      ["todoitems serve --users oth\t\n", "<serve --users other.csv>"],
      ["todoitems user rem\tx\n", "<user remove x>"],
      ["todoitems add oth\tx\n", "<add othx>"],
      ["todoitems add --not\tsoon\n", "<add --notes soon>"],
      ["todoitems add milk --not\tsoon\n", "<add milk --notes soon>"],
      ["todoitems healthcheck --por\t80\n", "<healthcheck --port 80>"],
      ["todoitems serve --idle\t9 --fo\tb\n", "<serve --idle-timeout 9 --forms b>"],
    ] as const) {
      type(typed);
      await eventually(async () => output.includes(completed));
    }
    type("exit\n");
    await shell.exited;
    shell.terminal?.close();
  });
});

test("the commands in the help keep the scripts, even if their folders do not exist yet", async () => {
  const home = path("fresh home");
  await keepScripts(home);
  for (const file of [
    ".local/share/bash-completion/completions/todoitems",
    ".zfunc/_todoitems",
    ".config/fish/completions/todoitems.fish",
  ])
    expect(readFileSync(join(home, file), "utf8")).toContain("todoitems");
});
