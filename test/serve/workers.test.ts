// Tests `--workers`: several processes on one port and one store act as one service.

import { afterAll, afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { childrenOf, isAlive, onLinux } from "../processes.ts";
import { Program, runProgram } from "../program.ts";
import { ids, item } from "../service.ts";

const folder = temporaryFolder();
afterAll(() => folder.dispose());
const programs: Program[] = [];
afterEach(async () => {
  for (const program of programs.splice(0)) await program.stop();
});

async function start(...args: string[]): Promise<Program> {
  const store = `sqlite:${join(folder.path, crypto.randomUUID())}`;
  const program = await Program.start({ args: ["--port", "0", "--workers", "3", "--store", store, ...args] });
  programs.push(program);
  return program;
}

/** The options of a request on a new connection, which can reach any worker. */
const alone = { headers: { Connection: "close" } };

test("once a worker has answered a write, the lists of all workers contain it", async () => {
  const program = await start();
  await program.send("POST", "/api/todoitems/", item(ids.one, '"n":0'));
  for (let n = 1; n <= 50; n++) {
    const path = `/api/todoitems/${ids.one}`;
    const update = await program.send("PUT", path, item(ids.one, `"n":${n}`), alone.headers);
    expect(update.status).toBe(204);
    const lists = await Promise.all(Array.from({ length: 6 }, () => program.fetch("/api/todoitems/", alone)));
    for (const list of lists) expect(await list.text()).toBe(`[${item(ids.one, `"n":${n}`)}]`);
  }
});

test("an ID is created only once, even if several workers get a create for it", async () => {
  const program = await start();
  const create = () => program.send("POST", "/api/todoitems/", item(ids.one), alone.headers);
  const statuses = (await Promise.all(Array.from({ length: 32 }, create))).map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(1);
  expect(statuses.filter((status) => status === 409)).toHaveLength(31);
});

test("several workers store a seed only once", async () => {
  const seed = join(folder.path, "seed.json");
  await Bun.write(seed, `[${item(ids.one)},${item(ids.two)}]`);
  const program = await start("--seed", seed);
  expect(await program.list()).toBe(`[${item(ids.one)},${item(ids.two)}]`);
  expect((await program.stop()).stderr).not.toContain("seed");
  programs.pop();
});

test("workers that stop after many updates all clean up the store without an error", async () => {
  const program = await start();
  await program.send("POST", "/api/todoitems/", item(ids.one, '"n":0'));
  const update = async (n: number) =>
    (await program.send("PUT", `/api/todoitems/${ids.one}`, item(ids.one, `"n":${n}`), alone.headers)).status;
  const statuses = await Promise.all(Array.from({ length: 600 }, (_, n) => update(n)));
  expect(new Set(statuses)).toEqual(new Set([204]));
  const { exitCode, stderr } = await program.stop();
  programs.pop();
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: expect.not.stringContaining("could not be closed properly"),
  });
});

test("if the first worker cannot start, the error is printed and the service ends", async () => {
  const program = await start();
  const { port } = new URL(program.origin);
  const store = `sqlite:${join(folder.path, "other.db")}`;
  const second = await runProgram("serve", { args: ["--port", port, "--workers", "2", "--store", store] });
  expect(second.exitCode).toBe(1);
  expect(second.stderr).toContain(`Port ${port} on 127.0.0.1 is in use by another program`);
  const broken = await runProgram("serve", {
    args: ["--port", "0", "--workers", "2", "--store", `sqlite:${folder.path}`],
  });
  expect(broken.exitCode).toBe(1);
  expect(broken.stderr).toContain("this is a folder, not a file");
});

test("several workers with a store that processes cannot share are refused with exit code 2", async () => {
  const { exitCode, stderr } = await runProgram("serve", { args: ["--workers", "2", "--store", "memory:"] });
  expect(exitCode).toBe(2);
  expect(stderr).toContain("--workers");
});

onLinux("worker processes", () => {
  test("one signal stops all workers, and the exit code is 0", async () => {
    const program = await start();
    const workers = childrenOf(program.pid);
    expect(workers).toHaveLength(3);
    expect((await program.stop()).exitCode).toBe(0);
    programs.pop();
    expect(workers.filter(isAlive)).toEqual([]);
  });

  test("a worker that was killed is replaced while the service keeps running", async () => {
    const program = await start();
    const [victim = 0, ...others] = childrenOf(program.pid);
    process.kill(victim, "SIGKILL");
    expect(await program.stderrLine()).toMatch(`Worker ${victim} ended with signal SIGKILL. Starting another one`);
    expect((await program.send("POST", "/api/todoitems/", item(ids.one), alone.headers)).status).toBe(201);
    await eventually(() => childrenOf(program.pid).length === 3);
    expect(childrenOf(program.pid)).toEqual(expect.arrayContaining(others));
    expect(childrenOf(program.pid)).not.toContain(victim);
  });

  test("workers whose parent was killed stop by themselves", async () => {
    const program = await start();
    const workers = childrenOf(program.pid);
    await program.stop("SIGKILL");
    programs.pop();
    await eventually(() => !workers.some(isAlive));
  });
});
