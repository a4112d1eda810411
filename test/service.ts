// A whole service for tests: engine, store and app, without sockets. Also the IDs, the items and the check of a
// problem that many tests share.

import { afterEach, describe, expect } from "bun:test";
import type { Engine, StoreError } from "../src/collection/engine.ts";
import { rootList } from "../src/collection/list-key.ts";
import type { TodoCollection } from "../src/collection/todo-collection.ts";
import { type StoreOptions, TodoStore } from "../src/collection/todo-store.ts";
import { App, type AppOptions } from "../src/http/app.ts";
import { appDefaults } from "./app-defaults.ts";
import { appFetch } from "./app-fetch.ts";
import { checkAnswers } from "./description/checked-answer.ts";
import { engineKinds, type TestStore } from "./engines/engine-kinds.ts";
import { executable } from "./program.ts";
import { smallLimits } from "./small-limits.ts";

export type ServiceOptions = Partial<Omit<StoreOptions, "onStoreError" | "onStoreBack"> & Omit<AppOptions, "log">>;

export interface LogEntry {
  readonly level: string;
  readonly message: string;
}

/** The requests that most tests send. */
export abstract class ItemRequests {
  abstract fetch(method: string, path: string, init?: RequestInit): Promise<Response>;

  /** Sends JSON text unchanged. */
  async send(method: string, path: string, json: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.fetch(method, path, { body: json, headers: { "Content-Type": "application/json", ...headers } });
  }

  async create(json: string): Promise<Response> {
    const response = await this.send("POST", "/api/todoitems/", json);
    expect(response.status).toBe(201);
    return response;
  }

  /** The text of the list, as it is sent. */
  async list(): Promise<string> {
    const response = await this.fetch("GET", "/api/todoitems/");
    expect(response.status).toBe(200);
    return response.text();
  }
}

export class Service extends ItemRequests {
  readonly store: TodoStore;
  readonly app: App;
  readonly log: LogEntry[];
  /** The address that requests come from. */
  address = "127.0.0.1";

  private constructor(store: TodoStore, app: App, log: LogEntry[]) {
    super();
    this.store = store;
    this.app = app;
    this.log = log;
  }

  static async on(engine: Engine, options: ServiceOptions = {}): Promise<Service> {
    const log: LogEntry[] = [];
    const store = await TodoStore.open(engine, {
      onStoreError: (error: StoreError) => log.push({ level: "error", message: error.message }),
      onStoreBack: () => log.push({ level: "info", message: "back" }),
      limits: smallLimits,
      ...options,
    });
    const app = checkAnswers(
      new App(store, {
        ...appDefaults,
        log: (level, message) => log.push({ level, message }),
        limits: smallLimits,
        ...options,
      }),
    );
    return new Service(store, app, log);
  }

  /** The root list. */
  get collection(): TodoCollection {
    return this.store.list(rootList);
  }

  override async fetch(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const request = new Request(`http://localhost${path}`, { ...init, method });
    return appFetch(this.app, request, this.address);
  }
}

/** Starts a service on a new store. */
export type StartService = (options?: ServiceOptions) => Promise<Service>;

/**
 * Defines a group of tests that run on every engine. The services that a test starts are closed after it. The tests may
 * look inside the service, so they are skipped if an executable is tested.
 */
export function describeOnEveryEngine(title: string, define: (start: StartService) => void): void {
  const group = executable === undefined ? describe : describe.skip;
  for (const kind of engineKinds) {
    group(`${title} [${kind.name}]`, () => {
      const started: { service: Service; store: TestStore }[] = [];
      afterEach(async () => {
        for (const { service, store } of started.splice(0)) {
          await service.store.close();
          await store.dispose();
        }
      });
      define(async (options) => {
        const store = await kind.createStore();
        const service = await Service.on(await store.open(), { limits: kind.limits, ...options });
        started.push({ service, store });
        return service;
      });
    });
  }
}

interface ProblemDocument {
  readonly title: string;
  readonly detail: string;
}

/** Checks that an answer is a problem document with this status and code, and returns it. */
export async function expectProblem(response: Response, status: number, code: string): Promise<ProblemDocument> {
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(response.headers.get("cache-control")).toBe("no-store");
  const problem = (await response.json()) as ProblemDocument;
  expect(problem).toMatchObject({ type: `/docs#${code}`, status, code });
  expect(problem.title).toBeString();
  expect(problem.detail).toBeString();
  return problem;
}

export const ids = {
  one: "11111111-1111-4111-8111-111111111111",
  two: "22222222-2222-4222-8222-222222222222",
  three: "33333333-3333-4333-8333-333333333333",
  mixedCase: "AbCdEf01-2345-6789-aBcD-eF0123456789",
} as const;

export function item(id: string, rest = '"Name":"x"'): string {
  return `{"ID":"${id}",${rest}}`;
}
