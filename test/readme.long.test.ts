// Checks that the README is true. Its commands are run, with the ports, folders and IDs of the test in place of those
// in the README. `git clone` and `npm ci` are not run. Instead, the lock file is checked.

import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json";
import { checkedFetch } from "./description/checked-answer.ts";
import { temporaryFolder } from "./engines/engine-kinds.ts";
import { checksAnswers, projectFolder } from "./program.ts";

const readme = readFileSync(join(projectFolder, "README.md"), "utf8");

interface LockFile {
  readonly packages: Readonly<
    Record<
      string,
      { readonly optionalDependencies?: Readonly<Record<string, string>>; readonly hasInstallScript?: boolean }
    >
  >;
}

interface Step {
  readonly command: string;
  readonly output: string;
}

/** All commands in the console blocks, with the output shown below them. */
const steps: readonly Step[] = [...readme.matchAll(/^```console\n(.*?)^```$/gms)].flatMap(([, block = ""]) =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((step) => ({ command: step.slice(0, step.indexOf("\n")), output: step.slice(step.indexOf("\n") + 1) })),
);
const stepsWith = (start: string) => steps.filter(({ command }) => command.startsWith(start));

const npm = process.platform === "win32" ? "npm.cmd" : "npm";
const started: Bun.Subprocess[] = [];
const folders: ReturnType<typeof temporaryFolder>[] = [];
afterEach(async () => {
  // A supervisor sends its signal to npm, not to the service. The service must stop cleanly all the same.
  for (const process of started.splice(0)) {
    process.kill("SIGTERM");
    expect(await process.exited).toBe(0);
  }
  // The folders are removed last, because a service whose store is gone does not stop cleanly.
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
    // The development certificate is kept in the user's data folder, so the service gets a new folder for it.
    env: { ...process.env, ...checksAnswers, XDG_DATA_HOME: cwd },
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
  test("the README has fewer than 170 lines", () => {
    expect(readme.split("\n").length).toBeLessThan(170);
  });

  test("the README begins with the two commands that continuous integration runs", () => {
    expect(readme).toContain("\n$ npm ci --omit=dev && npm start\n");
    expect(readme).toContain("`npm ci && npm test`");
    const ci = readFileSync(join(projectFolder, ".ci/run"), "utf8");
    expect(ci).toContain("npm ci\nnpm run test:all\n");
    expect(manifest.scripts["test:all"]).toBe(`${manifest.scripts.test} --all`);
    expect(ci).toContain('"npm ci && npm test"');
  });

  test("the README's start-up text and curl transcript show what really happens", async () => {
    const folder = newFolder();
    const [start] = stepsWith("npm ci --omit=dev && npm start");
    const store = join(folder.path, "todoitems.db");
    const { printed, port } = await npmStart(["--store", `sqlite:${store}`], folder.path);
    expect(printed.trimEnd().replaceAll(port, "5000").replace(store, "/home/ann/todoitems/todoitems.db")).toBe(
      start?.output.trimEnd() ?? "",
    );
    expect(stepsWith("curl").length).toBeGreaterThan(2);
    for (const { command, output } of stepsWith("curl")) {
      const shell = Bun.spawnSync(["bash", "-c", command.replace("curl", "curl -s").replaceAll(":5000", `:${port}`)]);
      const comparable = (text: string) =>
        text
          .replaceAll("\r", "")
          .replace(/^Date: .*$/m, "Date")
          .replace(/"[0-9a-f]{16}-/, '"epoch-')
          .trimEnd();
      expect({ command, output: comparable(shell.stdout.toString()) }).toEqual({ command, output: comparable(output) });
    }
  });

  test("the README's fetch prints the names of the items", async () => {
    const { port } = await npmStart(["--demo"], newFolder().path);
    const [, code = ""] = /^```js\n(.*?)^```$/ms.exec(readme) ?? [];
    const program = Bun.spawnSync([process.execPath, "-e", code.replace(":5000", `:${port}`)]);
    const list = (await (await checkedFetch(`http://127.0.0.1:${port}/api/todoitems/`)).json()) as { Name: string }[];
    expect(program.stdout.toString()).toBe(list.map(({ Name }) => `${Name}\n`).join(""));
  });

  test("the README's command-line session shows what really happens", async () => {
    const folder = newFolder();
    const { port } = await npmStart(["--store", "memory:"], folder.path);
    const session = stepsWith("npx todoitems");
    expect(session.length).toBeGreaterThan(3);
    /** For each ID in the README: its beginning, and the beginning of the ID that the command generated instead. */
    const ids: [shown: string, made: string][] = [];
    const asMade = (text: string) =>
      ids.reduce((changed, [shown, made]) => {
        const start = new RegExp(`(?<=^| )${shown.slice(0, 4)}(?= |$)`, "gm");
        return changed.replaceAll(`(${shown})`, `(${made})`).replace(start, made.slice(0, 4));
      }, text);
    /** The beginning of an ID, as `add` prints it in parentheses. */
    const idAddedBy = (output: string) => /\(([0-9a-f]{8})\)/.exec(output)?.[1] ?? "";
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
      if (command.includes(" add ")) ids.push([idAddedBy(output), idAddedBy(printed)]);
      expect({ command, output: printed.trimEnd() }).toEqual({ command, output: asMade(output).trimEnd() });
    }
  });

  const starts = new Set([...readme.matchAll(/npm start -- ([^`\n]+)/g)].map(([, flags = ""]) => flags));
  for (const flags of starts) {
    test(`the README's command works: npm start -- ${flags}`, async () => {
      const folder = newFolder();
      await Bun.write(join(folder.path, "items.json"), '[{"Name":"from the seed"}]');
      const args = flags
        .replace("/var/lib/todoitems", folder.path)
        .replace("items.json", join(folder.path, "items.json"))
        .replace("--https-port 5001", "--https-port 0")
        .split(" ");
      const placed =
        args.includes("--store") || args.includes("--demo")
          ? args
          : [...args, "--store", `sqlite:${join(folder.path, "store.db")}`];
      const { printed } = await npmStart(placed, folder.path);
      expect(printed).toStartWith("todoitems is ready on http://");
    });
  }

  const lock = JSON.parse(readFileSync(join(projectFolder, "package-lock.json"), "utf8")) as LockFile;

  test("npm ci prints no warning about install scripts: package.json allows or denies each of them", () => {
    const withScript = Object.keys(lock.packages).filter((path) => lock.packages[path]?.hasInstallScript);
    const names = withScript.map((path) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length));
    expect(Object.keys(manifest.allowScripts).sort()).toEqual(names.sort());
  });

  test("npm ci works on every platform: the lock file has every optional package and names no registry", () => {
    const missing = Object.values(lock.packages)
      .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
      .filter((name) => !(`node_modules/${name}` in lock.packages));
    expect(missing).toEqual([]);
    expect(JSON.stringify(lock)).not.toContain('"resolved"');
    expect(readFileSync(join(projectFolder, "test/tools/package-lock.json"), "utf8")).not.toContain('"resolved"');
  });
});
