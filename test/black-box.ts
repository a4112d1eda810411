// Services for tests that know nothing but the API. Such a service runs in this process, without a socket. But if
// TODOITEMS_PROGRAM names an executable, the service is a process of that executable, with the same settings as flags.

import { afterEach, describe, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Limits } from "../src/collection/limits.ts";
import { Access } from "../src/http/access.ts";
import { BasicAuth } from "../src/http/basic-auth.ts";
import { parseSeed } from "../src/serve/seed.ts";
import { definitions, type Settings } from "../src/serve/settings-table.ts";
import { engineKinds, type TestStore, temporaryFolder } from "./engines/engine-kinds.ts";
import { executable, Program } from "./program.ts";
import { ItemRequests, Service, type ServiceOptions } from "./service.ts";

/** The settings that are options of a part, with the same name and the same type. */
type PlainName = {
  [Name in keyof Settings & keyof ServiceOptions]: Settings[Name] extends ServiceOptions[Name] ? Name : never;
}[keyof Settings & keyof ServiceOptions];
/** The settings that a test may choose, besides `auth`. If an executable is tested, they become its flags. */
type PlainSettings = Partial<Pick<Settings, PlainName>>;

export interface BlackBoxOptions extends PlainSettings {
  readonly auth?: Settings["auth"];
  /** The hash of each user's password. */
  readonly users?: ReadonlyMap<string, string>;
  /** The items in the store at the start. */
  readonly items?: readonly string[];
}

interface Started {
  readonly service: ItemRequests;
  stop(): Promise<void>;
}

export type StartBlackBox = (options?: BlackBoxOptions) => Promise<ItemRequests>;

/** For tests that look inside the service. They are skipped if an executable is tested. */
export const whiteBoxTest = executable === undefined ? test : test.skip;

/**
 * Defines a group of tests that run on every engine. If an executable is tested, they run on every engine that a setting
 * can choose. The services that a test starts are stopped after it.
 */
export function describeBlackBox(title: string, define: (start: StartBlackBox) => void): void {
  for (const kind of engineKinds) {
    describe(`${title} [${kind.name}]`, () => {
      const stops: (() => Promise<void>)[] = [];
      afterEach(async () => {
        for (const stop of stops.splice(0)) await stop();
      });
      define(async (options = {}) => {
        const store = await kind.createStore();
        const { service, stop } = await (executable === undefined
          ? startHere(store, options, kind.limits)
          : startProgram(store, options));
        stops.push(async () => {
          await stop();
          await store.dispose();
        });
        return service;
      });
    });
  }
}

async function startHere(store: TestStore, options: BlackBoxOptions, limits: Limits): Promise<Started> {
  const { auth: mode = "off", users = new Map(), items = [], ...settings } = options;
  const auth = mode === "off" ? undefined : new BasicAuth(users);
  const access = new Access({ mode, auth });
  const service = await Service.on(await store.open(), { ...settings, access, limits });
  await service.collection.seed(parseSeed("items", arrayOf(items)));
  return { service, stop: () => service.collection.close() };
}

async function startProgram(store: TestStore, options: BlackBoxOptions): Promise<Started> {
  const { auth = "off", users = new Map(), items = [], ...settings } = options;
  const folder = temporaryFolder();
  const write = (name: string, text: string) => {
    writeFileSync(join(folder.path, name), text, { mode: 0o600 });
    return join(folder.path, name);
  };
  const args = ["--port", "0", "--store", store.address, ...flagsOf(settings)];
  // A read-only instance needs an existing store and does not create one. So `--seed` creates it, even if there are no
  // items.
  if (items.length > 0 || settings.readOnly) args.push("--seed", write("items.json", arrayOf(items)));
  if (auth !== "off")
    args.push(
      "--auth",
      auth,
      "--users",
      write("users", [...users].map(([name, hash]) => `${name}:${hash}\n`).join("")),
    );
  const program = await Program.start({ args });
  return {
    service: new ProgramRequests(program),
    async stop() {
      await program.stop("SIGKILL");
      folder.dispose();
    },
  };
}

class ProgramRequests extends ItemRequests {
  readonly #program: Program;

  constructor(program: Program) {
    super();
    this.#program = program;
  }

  override fetch(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    // Unlike a `Request` without a socket, `fetch` accepts compressed answers unless it is told otherwise.
    const headers = new Headers({ "Accept-Encoding": "identity" });
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    return this.#program.fetch(path, { ...init, method, headers });
  }
}

function flagsOf(settings: PlainSettings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    const flag = `--${definitions[name as PlainName].flag}`;
    if (value === undefined || value === false) return [];
    return value === true ? [flag] : [flag, String(value)];
  });
}

function arrayOf(items: readonly string[]): string {
  return `[${items.join(",")}]`;
}
