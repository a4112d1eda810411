// Makes a single executable for this platform, and tests what breaks most easily in an executable: files that the
// program reads, and threads that it starts. `TODOITEMS_PROGRAM=… npm test` tests an executable
// thoroughly.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json";
import { billOfMaterials } from "../packaging/executables/bill-of-materials.ts";
import { compile } from "../packaging/executables/compile.ts";
import { licenceText } from "../packaging/executables/licences.ts";
import { checkedFetch } from "./description/checked-answer.ts";
import { temporaryFolder } from "./engines/engine-kinds.ts";
import { marker, writeHostileFiles } from "./hostile-files.ts";
import { Program, runProgram } from "./program.ts";

const built = temporaryFolder();
const executable = join(built.path, "todoitems");
let packages: readonly string[] = [];

beforeAll(async () => {
  ({ packages } = await compile({ outfile: executable, runtime: process.execPath }));
});
afterAll(() => built.dispose());

let folder: ReturnType<typeof temporaryFolder>;
let program: Program | undefined;
beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(join(folder.path, "empty"));
  mkdirSync(join(folder.path, "current"));
  writeHostileFiles(join(folder.path, "current"));
});
afterEach(async () => {
  await program?.stop("SIGKILL");
  program = undefined;
  expect(existsSync(join(folder.path, "current", marker))).toBe(false);
  folder.dispose();
});

/** The environment of the executable. Its PATH does not lead to Node. */
function surroundings() {
  const home = folder.path;
  const environment = { PATH: join(home, "empty"), HOME: home, XDG_DATA_HOME: home, BUN_OPTIONS: "" };
  return { environment, cwd: join(home, "current") };
}

async function serve(...args: readonly string[]): Promise<Program> {
  program = await Program.start({ start: [executable, "serve"], args: ["--port", "0", ...args], ...surroundings() });
  return program;
}

const sqlite = () => `sqlite:${join(folder.path, "store.db")}`;

async function statusAndType(path: string): Promise<string> {
  const response = await program?.fetch(path);
  return `${response?.status} ${response?.headers.get("content-type")}`;
}

test("an executable serves the page, the reference, all their assets and the API's description", async () => {
  const service = await serve("--store", "memory:");
  const assets = new Set(["/favicon.ico"]);
  for (const path of ["/", "/docs", "/manifest.webmanifest"]) {
    const text = await (await service.fetch(path)).text();
    for (const [asset] of text.matchAll(/assets\/[\w.-]+/g)) assets.add(`/${asset}`);
  }
  expect([...assets].map((path) => path.replace(/-[0-9a-f]{16}\./, ".")).sort()).toEqual([
    "/assets/icon-512.png",
    "/assets/icon.svg",
    "/assets/reference-script.js",
    "/assets/reference-style.css",
    "/assets/samples.js",
    "/assets/script.js",
    "/assets/style.css",
    "/favicon.ico",
  ]);
  for (const path of assets) expect(await statusAndType(path)).toStartWith("200 ");
  expect(await statusAndType("/openapi.yaml")).toBe("200 application/yaml");
  expect(await statusAndType("/openapi.json")).toBe("200 application/json");
});

test("an executable uses no settings from the current folder, which contains other people's files", async () => {
  const service = await serve("--store", "memory:");
  // If the service had read TODOITEMS_FORMS=a from the folder's .env file, it would answer this with 405.
  expect((await service.send("POST", "/api/todoitems/", "{}")).status).toBe(201);
  const { exitCode, stderr } = await service.stop();
  program = undefined;
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.not.stringContaining("TODOITEMS_INVENTED") });
});

test("an executable makes a development certificate, and serves HTTPS with it", async () => {
  const service = await serve("--store", "memory:", "--https-port", "0");
  const [, https = ""] = service.origins;
  expect(https).toStartWith("https://");
  const ca = await Bun.file(join(folder.path, "todoitems/https/authority.pem")).text();
  expect((await checkedFetch(`${https}/api/todoitems/`, { tls: { ca } })).status).toBe(200);
});

test("an executable knows its version, and names a mistake", async () => {
  const run = (command: string) => runProgram("", { start: [executable, command], ...surroundings() });
  expect(await run("--version")).toEqual({ exitCode: 0, stdout: `${manifest.version}\n`, stderr: "" });
  expect(await run("nosuch")).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining("nosuch") });
});

test("an executable finds the program of its SQLite thread, and keeps what it has stored", async () => {
  const service = await serve("--store", sqlite());
  expect((await service.send("POST", "/api/todoitems/", "{}")).status).toBe(201);
  expect((await service.stop()).exitCode).toBe(0);
  const next = await serve("--store", sqlite());
  expect(JSON.parse(await next.list())).toHaveLength(1);
});

test("the bill of materials and the licences name every package inside", () => {
  const { components } = billOfMaterials() as { components: { purl: string }[] };
  const names = components.map(({ purl }) => decodeURIComponent(purl.slice("pkg:npm/".length, purl.lastIndexOf("@"))));
  const licences = licenceText();
  expect(packages.length).toBeGreaterThan(5);
  for (const name of [...packages, "bun", "preact"]) {
    expect(names).toContain(name);
    expect(licences.toLowerCase()).toContain(`\n${name} `);
  }
});
