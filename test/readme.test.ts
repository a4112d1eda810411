// Checks that the README is true. Its commands are run as they are written, and its tables are compared with the code.

import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json";
import { problemStatuses } from "../src/http/problem.ts";
import { describeSettings } from "../src/serve/settings.ts";
import { checkedFetch } from "./description/checked-answer.ts";
import { temporaryFolder } from "./engines/engine-kinds.ts";
import { checksAnswers, projectFolder } from "./program.ts";

const readme = readFileSync(join(projectFolder, "README.md"), "utf8");

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly optionalDependencies?: Readonly<Record<string, string>> }>>;
}

interface Step {
  readonly command: string;
  readonly output: string;
}

/** The commands in each console block, with the output shown below them. */
const blocks: readonly (readonly Step[])[] = [...readme.matchAll(/^```console\n(.*?)^```$/gms)].map(([, block = ""]) =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((step) => ({ command: step.slice(0, step.indexOf("\n")), output: step.slice(step.indexOf("\n") + 1) })),
);

const npm = process.platform === "win32" ? "npm.cmd" : "npm";
const started: Bun.Subprocess[] = [];
const folders: ReturnType<typeof temporaryFolder>[] = [];
afterEach(async () => {
  // A supervisor sends its signal to npm. The service must then stop cleanly, too.
  for (const process of started.splice(0)) {
    process.kill("SIGTERM");
    expect(await process.exited).toBe(0);
  }
  // Not earlier: a service whose store is gone does not stop cleanly.
  for (const folder of folders.splice(0)) folder.dispose();
});

function newFolder(): { readonly path: string } {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder;
}

/** Runs `npm start` with these arguments on a free port, and returns what it prints when it is ready. */
async function npmStart(args: readonly string[], cwd: string): Promise<{ printed: string; port: string }> {
  const service = Bun.spawn([npm, "start", "--silent", "--prefix", projectFolder, "--", ...args, "--port", "0"], {
    cwd,
    env: { ...process.env, ...checksAnswers },
    stdout: "pipe",
    stderr: "ignore",
  });
  started.push(service);
  let printed = "";
  for await (const chunk of service.stdout) {
    printed += new TextDecoder().decode(chunk);
    if (printed.endsWith("\n\n") && printed.includes("Ctrl-C")) break;
  }
  return { printed, port: /:([0-9]+)\/\n/.exec(printed)?.[1] ?? "" };
}

describe("the README", () => {
  test("the README begins with the two commands that continuous integration runs", () => {
    expect(readme).toContain("\n$ npm ci && npm start\n");
    expect(readme).toContain("`npm ci && npm test`");
    const ci = readFileSync(join(projectFolder, ".ci/run"), "utf8");
    expect(ci).toContain("npm ci\nnpm run test:all\n");
    expect(manifest.scripts["test:all"]).toStartWith("npm test && ");
    expect(ci).toContain('"npm ci && npm test"');
  });

  test("the README's curl transcript shows what really happens", async () => {
    const folder = newFolder();
    const [[start] = [], steps = []] = blocks;
    const store = join(folder.path, "todoitems.db");
    const { printed, port } = await npmStart(["--store", `sqlite:${store}`], folder.path);
    expect(printed.trimEnd().replaceAll(port, "5000").replace(store, "todoitems.db")).toBe(
      start?.output.trimEnd() ?? "",
    );
    for (const { command, output } of steps) {
      const shell = Bun.spawnSync(["bash", "-c", command.replace("curl", "curl -s").replaceAll(":5000", `:${port}`)]);
      const comparable = (text: string) =>
        text
          .replaceAll("\r", "")
          .replace(/^Date: .*$/m, "Date")
          .replace(/"[0-9a-f]{16}-/, '"epoch-')
          .trimEnd();
      expect({ command, output: comparable(shell.stdout.toString()) }).toEqual({ command, output: comparable(output) });
    }
  }, 30_000);

  test("the README's command-line session shows what really happens", async () => {
    const folder = newFolder();
    const { port } = await npmStart(["--store", "memory:"], folder.path);
    const session = blocks.find(([first]) => first?.command.startsWith("npx todoitems add")) ?? [];
    expect(session.length).toBeGreaterThan(3);
    /** Maps each ID in the README to the one that the service generated instead. */
    const ids: [shown: string, made: string][] = [];
    const asMade = (text: string) =>
      ids.reduce((changed, [shown, made]) => {
        const start = new RegExp(`(?<=^| )${shown.slice(0, 4)}(?= |$)`, "gm");
        return changed
          .replaceAll(shown, made)
          .replaceAll(`(${shown.slice(0, 8)})`, `(${made.slice(0, 8)})`)
          .replace(start, made.slice(0, 4));
      }, text);
    /** The whole ID whose beginning `add` printed in parentheses. */
    const idAddedBy = (output: string, text: string) => {
      const [, start = "none"] = /\(([0-9a-f]{8})\)/.exec(output) ?? [];
      return new RegExp(`${start}[0-9a-f-]{28}`).exec(text)?.[0] ?? "";
    };
    const shownText = session.map(({ output }) => output).join();
    for (const { command, output } of session) {
      const shell = Bun.spawn(
        ["bash", "-c", `${asMade(command).replace("npx", 'exec npx --prefix "$PROJECT"')} 2>&1`],
        {
          cwd: folder.path,
          env: {
            ...process.env,
            PROJECT: projectFolder,
            TODOITEMS_SERVER: `http://127.0.0.1:${port}/`,
            HOME: folder.path,
            // In a new home folder, npm would print a notice about newer versions of itself.
            npm_config_update_notifier: "false",
          },
          stdout: "pipe",
        },
      );
      const printed = (await new Response(shell.stdout).text()).replaceAll(/^npm warn.*\n/gm, "");
      const list = await (await checkedFetch(`http://127.0.0.1:${port}/api/todoitems/`)).text();
      if (command.includes(" add ")) ids.push([idAddedBy(output, shownText), idAddedBy(printed, list)]);
      const comparable = (text: string) =>
        text
          .replace(/[0-9a-f]{64}/, "hash")
          .replaceAll("\r", "")
          .trimEnd();
      expect({ command, output: comparable(printed) }).toEqual({ command, output: comparable(asMade(output)) });
    }
  }, 60_000);

  for (const { command } of blocks[2] ?? []) {
    test(`the README's command works: ${command}`, async () => {
      const folder = newFolder();
      await Bun.write(join(folder.path, "items.json"), '[{"Name":"from the seed"}]');
      const args = command
        .replace("npm start -- ", "")
        .replace("/var/lib/todoitems", folder.path)
        .replace("items.json", join(folder.path, "items.json"))
        .split(" ");
      const placed =
        args.includes("--store") || args.includes("--demo")
          ? args
          : [...args, "--store", `sqlite:${join(folder.path, "store.db")}`];
      const { printed } = await npmStart(placed, folder.path);
      expect(printed).toStartWith("todoitems is ready on http://");
    }, 30_000);
  }

  test("the README lists exactly the settings that the code has", () => {
    const quoted = (text: string) => (text === "" ? "" : `\`${text}\``);
    const rows = describeSettings().map(
      ({ flag, variable, default: standard, meaning }) =>
        `| ${quoted(flag)} | ${quoted(variable)} | ${quoted(standard)} | ${meaning} |`,
    );
    const [, table = ""] = /\| flag \| environment variable .*\n\|---.*\n((?:\|.*\n)*)/.exec(readme) ?? [];
    expect(table.trimEnd().split("\n")).toEqual(rows);
  });

  test("the README lists exactly the error codes and statuses that the code has", () => {
    const rows = [...readme.matchAll(/^\| ([0-9]{3}) \| `(\w+)` \|/gm)].map(([, status, code]) => [
      code,
      Number(status),
    ]);
    expect(Object.fromEntries(rows)).toEqual(problemStatuses);
  });

  test("npm ci works on every platform: the lock file has every optional package and names no registry", () => {
    const lock = JSON.parse(readFileSync(join(projectFolder, "package-lock.json"), "utf8")) as LockFile;
    const missing = Object.values(lock.packages)
      .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
      .filter((name) => !(`node_modules/${name}` in lock.packages));
    expect(missing).toEqual([]);
    expect(JSON.stringify(lock)).not.toContain('"resolved"');
    expect(readFileSync(join(projectFolder, "test/tools/package-lock.json"), "utf8")).not.toContain('"resolved"');
  });

  test("the README and the other documents have no dead links", () => {
    const documents = ["README.md", ...new Bun.Glob("{CONTRIBUTING,CHANGELOG,docs/**/*}.md").scanSync(projectFolder)];
    const dead = documents.flatMap((document) =>
      [...readFileSync(join(projectFolder, document), "utf8").matchAll(/\]\((?!https?:)([^)#]+)/g)]
        .map(([, target = ""]) => join(document, "..", target))
        .filter((path) => !existsSync(join(projectFolder, path)))
        .map((path) => `${document}: ${path}`),
    );
    expect(dead).toEqual([]);
  });

  test("the README and CONTRIBUTING name only npm scripts that exist", () => {
    const text = readme + readFileSync(join(projectFolder, "CONTRIBUTING.md"), "utf8");
    const named = new Set([...text.matchAll(/npm run ([a-z:-]+)/g)].map(([, name]) => name));
    expect([...named].filter((name) => !Object.keys(manifest.scripts).includes(name ?? ""))).toEqual([]);
  });
});
