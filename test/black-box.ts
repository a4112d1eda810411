// Services for tests that know nothing but the API. Such a service runs in this process, without a socket. But if
// TODOITEMS_PROGRAM names an executable, the service is a process of that executable, with the same settings as flags.

import { afterEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateKeyPair, SignJWT } from "jose";
import type { Engine } from "../src/collection/engine.ts";
import type { Limits } from "../src/collection/limits.ts";
import { type ListKey, listBytes, listKey, rootList } from "../src/collection/list-key.ts";
import { TodoStore } from "../src/collection/todo-store.ts";
import { TokenVerifier } from "../src/credentials/token-verifier.ts";
import type { Users } from "../src/credentials/users-file.ts";
import { Access, type AuthMode } from "../src/http/access.ts";
import { BasicAuth } from "../src/http/basic-auth.ts";
import { BearerAuth } from "../src/http/bearer-auth.ts";
import type { IdentifiedItem } from "../src/items/todo-item.ts";
import { parseSeed } from "../src/serve/seed.ts";
import { definitions, type Settings } from "../src/serve/settings-table.ts";
import { type EngineKind, engineKinds, type TestStore, temporaryFolder } from "./engines/engine-kinds.ts";
import { executable, Program } from "./program.ts";
import { rootListOnly } from "./root-list-only.ts";
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

/** Whose list the tests use, and where it is. */
interface Place {
  readonly title: string;
  /** The address of the list, relative to the service's own. */
  readonly base: string;
  /** Whom the list belongs to. Empty if lists belong to nobody. */
  readonly owner: string;
  readonly list: ListKey;
}

const root: Place = { title: "", base: "", owner: "", list: rootList };
const named: Place = { title: "/lists/work", base: "/lists/work", owner: "", list: "work" };
const owned: Place = { title: " as ann", base: "", owner: "ann", list: listKey("", "ann") };
const issuer = "https://login.example";
const subject = `${issuer} ann`;
const withToken: Place = { title: " with a token", base: "", owner: subject, list: listKey("", subject) };

/** An executable is tested with its own address only. Tokens are tested on one engine: others differ in nothing. */
function placesOn(kind: EngineKind): Place[] {
  if (executable !== undefined || process.env[rootListOnly] !== undefined) return [root];
  return kind === engineKinds[0] ? [root, named, owned, withToken] : [root, named, owned];
}

/** The weakest hash keeps the tests fast. */
const annsHash = Bun.password.hashSync("secret", { algorithm: "bcrypt", cost: 4 });
const { privateKey, publicKey } = await generateKeyPair("ES256");
const annsToken = await new SignJWT({ iss: issuer, aud: "todo", sub: "ann" })
  .setProtectedHeader({ alg: "ES256" })
  .setExpirationTime("1h")
  .sign(privateKey);

function accessOf(mode: AuthMode, users: Users, owner: string): Access {
  if (owner !== subject) return new Access({ mode, auth: mode === "off" ? undefined : new BasicAuth(users) });
  const verifier = new TokenVerifier(
    { issuer, audience: "todo" },
    { find: async () => publicKey, renew: async () => false },
  );
  return new Access({ mode, tokens: new BearerAuth(verifier) });
}

/**
 * Defines a group of tests that run on every engine, with the root list, with another one, and with a user's own. If an
 * executable is tested, they run on every engine that a setting can choose. The services that a test starts are stopped
 * after it.
 */
export function describeBlackBox(title: string, define: (start: StartBlackBox) => void): void {
  for (const kind of engineKinds) for (const place of placesOn(kind)) describeAt(place, kind, title, define);
}

function describeAt(place: Place, kind: EngineKind, title: string, define: (start: StartBlackBox) => void): void {
  describe(`${title} [${kind.name}${place.title}]`, () => {
    const stops: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const stop of stops.splice(0)) await stop();
    });
    define(async (options = {}) => {
      const store = await kind.createStore();
      const { service, stop } = await (executable === undefined
        ? startHere(store, options, kind.limits, placeFor(place, options))
        : startProgram(store, options));
      stops.push(async () => {
        await stop();
        await store.dispose();
      });
      return service;
    });
  });
}

/** Tests that do without credentials, or with those of several users, are about a list of nobody. */
function placeFor(place: Place, { auth }: BlackBoxOptions): Place {
  return place.owner !== "" && auth !== undefined ? root : place;
}

async function startHere(store: TestStore, options: BlackBoxOptions, limits: Limits, place: Place): Promise<Started> {
  const { owner, list } = place;
  const [standardMode, standardUsers] = owner === "" ? (["off", []] as const) : (["all", [[owner, annsHash]]] as const);
  const { auth = standardMode, users = new Map(standardUsers), items = [], ...settings } = options;
  const access = accessOf(auth, users, owner);
  const engine = await store.open();
  // The row of a list takes some of the room in the store. The tests do not count it.
  const storeBytesMax = settings.storeBytesMax === undefined ? undefined : settings.storeBytesMax + listBytes(list);
  const mode = owner === "" ? "many" : "user";
  const lists = list === rootList ? {} : ({ lists: mode, listMemoryMax: 1, storeBytesMax } as const);
  await fill(engine, list, parseSeed("items", arrayOf(items)), limits);
  const service = await Service.on(engine, { ...settings, ...lists, access, limits });
  return { service: list === rootList ? service : new ListRequests(service, place), stop: () => service.store.close() };
}

/** Fills a list before the service is there, because the service may be read-only. */
async function fill(engine: Engine, list: ListKey, items: readonly IdentifiedItem[], limits: Limits): Promise<void> {
  if (items.length === 0) return;
  const store = await TodoStore.open(engine, { limits });
  await Promise.all(items.map((item) => store.list(list).write({ kind: "create", item })));
}

/** The requests of a client that knows nothing but the address of a list, and perhaps its user's password. */
class ListRequests extends ItemRequests {
  readonly #service: ItemRequests;
  readonly #base: string;
  readonly #owner: string;

  constructor(service: ItemRequests, { base, owner }: Place) {
    super();
    this.#service = service;
    this.#base = base;
    this.#owner = owner;
  }

  override async fetch(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const sent = new Headers(init.headers);
    if (this.#owner === "ann") sent.set("Authorization", `Basic ${btoa("ann:secret")}`);
    if (this.#owner === subject) sent.set("Authorization", `Bearer ${annsToken}`);
    const response = await this.#service.fetch(method, this.#base + path, { ...init, headers: sent });
    const { status, headers } = response;
    if (this.#owner !== "") expectPrivate(response);
    const location = headers.get("location");
    if (location !== null) {
      expect(location).toStartWith(this.#base);
      headers.set("Location", location.slice(this.#base.length));
    }
    if (headers.get("content-type") !== "application/problem+json") return response;
    // The advice of a problem names addresses, too.
    return new Response((await response.text()).replaceAll(`${this.#base}/`, "/"), { status, headers });
  }
}

/** Checks that no cache gives the answer to another user. Then takes that out of the headers: others do without it. */
function expectPrivate({ status, headers }: Response): void {
  const cacheControl = headers.get("cache-control");
  if (status === 204 || (status >= 400 && status !== 412) || cacheControl === null) return;
  expect(`${cacheControl} ${headers.get("vary")}`).toMatch(/^private, no-cache.* Authorization|^no-store/);
  headers.set("Cache-Control", cacheControl.replace("private, ", ""));
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
