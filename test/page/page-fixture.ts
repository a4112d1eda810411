// A running program and the pages that are open on it, for tests of the page in a real Chromium.

import { afterEach, beforeEach, expect } from "bun:test";
import { join } from "node:path";
import { checkedFetch } from "../description/checked-answer.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program, runProgram } from "../program.ts";
import { item } from "../service.ts";
import { PageDriver } from "./page-driver.ts";

/** Gives each test a new folder. After each test, its pages are closed and its program is stopped. */
export function usePages(certificates?: string): PageFixture {
  const fixture = new PageFixture(certificates);
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());
  return fixture;
}

export class PageFixture {
  readonly #certificates: string | undefined;
  readonly #pages = new Set<PageDriver>();
  /** Where this test has opened a page. */
  readonly #origins = new Set<string>();
  #folder: ReturnType<typeof temporaryFolder> | undefined;
  #program: Program | undefined;

  constructor(certificates: string | undefined) {
    this.#certificates = certificates;
  }

  /** The folder of this test. */
  get path(): string {
    return this.#folder?.path ?? "";
  }

  get program(): Program {
    if (!this.#program) throw new Error("the program was not started");
    return this.#program;
  }

  /** Makes a new folder, and so a new store for the next start. */
  open(): void {
    this.#folder?.dispose();
    this.#folder = temporaryFolder();
    this.#origins.clear();
  }

  async close(): Promise<void> {
    for (const page of this.#pages) page.close();
    this.#pages.clear();
    await this.#program?.stop("SIGKILL");
    this.#folder?.dispose();
  }

  async start(...args: readonly string[]): Promise<void> {
    const home = this.#certificates ?? this.path;
    this.#program = await Program.start({
      environment: { XDG_DATA_HOME: home, HOME: home },
      args: [
        ...(args.includes("--demo") ? [] : ["--store", `sqlite:${join(this.path, "store.db")}`]),
        "--port",
        "0",
        ...args,
      ],
    });
  }

  /** Stops the program and starts it again at the same address. `between` runs while it is stopped. */
  async restart(between: () => Promise<void> = async () => {}, ...args: readonly string[]): Promise<void> {
    const { port } = new URL(this.program.origin);
    await this.program.stop();
    await between();
    await this.start("--port", port, ...args);
  }

  async openPage(origin = this.program.origin): Promise<PageDriver> {
    const page = await PageDriver.open(origin, { forgets: !this.#origins.has(origin) });
    this.#origins.add(origin);
    this.#pages.add(page);
    return page;
  }

  /** Opens the reference, the page at /docs. If `hash` is given, opens it at the part that `hash` names. */
  async openReference(hash = ""): Promise<PageDriver> {
    const page = await PageDriver.openReference(this.program.origin, hash);
    this.#pages.add(page);
    return page;
  }

  async send(method: string, path: string, json?: string, headers: Record<string, string> = {}) {
    const response = await checkedFetch(`${this.program.origin}${path}`, {
      method,
      ...(json === undefined ? {} : { body: json }),
      headers: { "Content-Type": "application/json", ...headers },
    });
    return { status: response.status, text: await response.text() };
  }

  async create(...jsons: readonly string[]): Promise<void> {
    for (const json of jsons) expect((await this.send("POST", "/api/todoitems/", json)).status).toBe(201);
  }

  async list(): Promise<string> {
    return (await this.send("GET", "/api/todoitems/")).text;
  }

  async listed(): Promise<Record<string, unknown>[]> {
    return JSON.parse(await this.list()) as Record<string, unknown>[];
  }

  /** Waits until the items that the service has stored satisfy `isThere`. */
  async untilStored(isThere: (items: Record<string, unknown>[]) => boolean): Promise<void> {
    await eventually(async () => expect(await this.listed()).toSatisfy(isThere));
  }

  /** Waits until a list, such as `/lists/work`, has an item with this name. */
  async untilStoredIn(list: string, name: string): Promise<void> {
    await eventually(async () => expect((await this.send("GET", `${list}/api/todoitems/`)).text).toContain(name));
  }

  /** Returns the path of a users file with these users, each with the password `long enough`. */
  async users(...names: readonly string[]): Promise<string> {
    const users = join(this.path, "users.txt");
    for (const name of names)
      await runProgram("user", { args: ["add", name, "--users", users], input: "long enough\n" });
    return users;
  }
}

export const named = (id: string, name: string, rest = '"Notes":"","Done":false') =>
  item(id, `"Name":"${name}",${rest}`);

export function numbered(index: number): string {
  return `00000000-0000-4000-8000-${index.toString().padStart(12, "0")}`;
}
