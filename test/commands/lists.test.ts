// Every command that talks to a service takes the address of a list, and `lists` names the lists.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../eventually.ts";
import { ids, item } from "../service.ts";
import { CommandLine, Watching } from "./command-line.ts";

let commandLine: CommandLine;
beforeAll(async () => {
  commandLine = await CommandLine.start("--lists", "many");
});
afterAll(() => commandLine.dispose());

const work = () => `${commandLine.service.origin}/lists/work/`;
const run = (line: string, server = work()) => commandLine.run([...line.split(" "), "--server", server]);

describe("the address of a list", () => {
  test("is a server for every command, with and without its slash", async () => {
    await commandLine.store(item(ids.one, '"Name":"in the root list"'));
    expect(await run("add Write")).toMatchObject({ exitCode: 0 });
    expect(await run("add Read", work().slice(0, -1))).toMatchObject({ exitCode: 0 });
    expect(await run("done Write")).toMatchObject({ exitCode: 0 });
    expect(await run("edit Read --name Listen")).toMatchObject({ exitCode: 0 });
    expect((await run("show Listen")).stdout).toContain("Listen");
    expect(await run("export kept.json")).toMatchObject({ exitCode: 0 });
    expect(await run("remove --done")).toMatchObject({ exitCode: 0 });
    const { stdout } = await run("list --json");
    expect(stdout.trim().split("\n")).toEqual([expect.stringContaining("Listen")]);
    expect(await run("import kept.json --on-conflict skip")).toMatchObject({ exitCode: 0 });
    expect((await run("list")).stdout).toContain("Write");
    expect(await commandLine.service.list()).toBe(`[${item(ids.one, '"Name":"in the root list"')}]`);
  });

  test("is watched alone", async () => {
    const watching = new Watching(["--json", "--server", work()], commandLine.environment);
    const { output } = watching;
    await eventually(() => output.stdout.includes("snapshot"));
    await commandLine.store(item(ids.two, '"Name":"elsewhere"'));
    await run("add seen");
    await eventually(() => output.stdout.includes("seen"));
    await watching.stop("SIGTERM");
    expect(output.stdout).not.toContain("elsewhere");
  });

  test("leads healthcheck to the service itself", async () => {
    expect(await commandLine.run(["healthcheck", work()])).toMatchObject({ exitCode: 0, stdout: "ready\n" });
  });
});

describe("lists", () => {
  test("prints the names of the lists that have items, whichever list is the server", async () => {
    for (const server of [commandLine.service.origin, work()]) {
      expect(await run("lists", server)).toEqual({ exitCode: 0, stdout: "(root)\nwork\n", stderr: "" });
      expect((await run("lists --json", server)).stdout).toBe('[{"name":""},{"name":"work"}]\n');
    }
  });

  test("says so if the service has one list, and so does every other command", async () => {
    const one = await CommandLine.start();
    for (const words of [["lists"], ["list", "--server", `${one.service.origin}/lists/work/`]])
      expect(await one.run(words)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("--lists many") });
    // Nobody has named a list here.
    expect((await one.run(["lists"])).stderr).toBe(
      `error: ${one.service.origin}/ has one list. To have more, start it with --lists many or --lists user.\n`,
    );
    await one.dispose();
  });
});
