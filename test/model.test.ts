// Compares random sequences of operations with a plain Map. Whatever clients do, across restarts and, if several
// processes may share a store, through two of them and across crashes, the service must answer as the Map would.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { type EngineKind, engineKinds, type TestStore } from "./engines/engine-kinds.ts";
import { ItemModel } from "./item-model.ts";
import { Service } from "./service.ts";

const ids = ["a", "b", "c", "d"].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`);

type Step =
  | {
      readonly kind: "create" | "update" | "delete" | "conditional-update";
      readonly id: string;
      readonly n: number;
      readonly form: "a" | "b";
      readonly process: 0 | 1;
    }
  | { readonly kind: "read"; readonly id: string; readonly process: 0 | 1 }
  | { readonly kind: "list"; readonly process: 0 | 1 }
  | { readonly kind: "together"; readonly ids: readonly string[]; readonly process: 0 | 1 }
  | { readonly kind: "restart" | "crash"; readonly process: 0 | 1 };

const id = fc.constantFrom(...ids).chain((text) => fc.constantFrom(text, text.toUpperCase()));
const process = fc.constantFrom(0 as const, 1 as const);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constantFrom("create" as const, "update" as const, "delete" as const, "conditional-update" as const),
      id,
      n: fc.nat(99),
      form: fc.constantFrom("a" as const, "b" as const),
      process,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("read" as const), id, process }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("list" as const), process }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("together" as const),
      ids: fc.array(id, { minLength: 2, maxLength: 6 }),
      process,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("restart" as const, "crash" as const), process }) },
);

class System {
  readonly #store: TestStore;
  readonly #kind: EngineKind;
  readonly #services: Service[] = [];
  readonly #abandoned: Service[] = [];
  readonly #model = new ItemModel();

  constructor(store: TestStore, kind: EngineKind) {
    this.#store = store;
    this.#kind = kind;
  }

  async start(): Promise<void> {
    const indexes = this.#kind.isShared ? [0, 1] : [0];
    for (const index of indexes) this.#services[index] = await Service.on(await this.#store.open());
  }

  async stop(): Promise<void> {
    for (const { collection } of [...this.#services, ...this.#abandoned]) await collection.close();
    await this.#store.dispose();
  }

  async run(step: Step): Promise<void> {
    const index = this.#kind.isShared ? step.process : 0;
    const service = this.#services[index];
    if (!service) throw new Error("not started");
    switch (step.kind) {
      case "create":
      case "update":
      case "delete":
      case "conditional-update":
        return this.#write(service, step);
      case "read":
        return this.#read(service, step.id);
      case "list":
        return this.checkList(service);
      case "together":
        return this.#createTogether(service, step.ids);
      default:
        if (!this.#kind.durable) return;
        // A crashed process closes nothing. So after a crash, the old service stays open and is not used any more. The
        // new service must have every write that the old one answered. The owner of a SQLite file keeps it locked, so
        // that one is closed; test/faults/kill-rounds.ts has its crashes.
        if (step.kind === "restart" || !this.#kind.isShared) await service.collection.close();
        else this.#abandoned.push(service);
        this.#services[index] = await Service.on(await this.#store.open());
    }
  }

  async #write(service: Service, { kind, id, n, form }: Extract<Step, { n: number }>): Promise<void> {
    const known = this.#model.get(id);
    const json = `{"ID":"${id}","n":${n}.0}`;
    const path = form === "a" || kind === "delete" ? `/api/todoitems/${id}` : "/api/todoitems/";
    if (kind === "create") {
      const response = await service.send("POST", path, json);
      expect(response.status).toBe(known ? 409 : 201);
      if (!known) this.#model.set(id, json, response);
      return;
    }
    if (kind === "delete") {
      expect((await service.fetch("DELETE", path)).status).toBe(known ? 204 : 404);
      this.#model.delete(id);
      return;
    }
    const holds = n % 2 === 0;
    const condition: Record<string, string> =
      kind === "update" ? {} : { "If-Match": holds && known ? known.etag : '"stale"' };
    const response = await service.send("PUT", path, json, condition);
    const refused = kind === "conditional-update" && !holds;
    expect(response.status).toBe(known ? (refused ? 412 : 204) : 404);
    if (known && refused) expect(await response.text()).toEndWith(`"current":${known.json}}`);
    else if (known) this.#model.set(id, json, response);
  }

  /**
   * Requests that arrive together are decided in the order of their arrival. So if an ID is free, only the first create
   * of this ID succeeds.
   */
  async #createTogether(service: Service, ids: readonly string[]): Promise<void> {
    const answers = await Promise.all(ids.map((id) => service.send("POST", "/api/todoitems/", `{"ID":"${id}"}`)));
    for (const [index, answer] of answers.entries()) {
      const id = ids[index] ?? "";
      expect(answer.status).toBe(this.#model.get(id) ? 409 : 201);
      if (answer.status === 201) this.#model.set(id, `{"ID":"${id}"}`, answer);
    }
  }

  async #read(service: Service, id: string): Promise<void> {
    const known = this.#model.get(id);
    const response = await service.fetch("GET", `/api/todoitems/${id}`);
    expect(response.status).toBe(known ? 200 : 404);
    if (!known) return;
    expect(await response.text()).toBe(known.json);
    expect(response.headers.get("etag")).toBe(known.etag);
  }

  async checkList(service = this.#services[0]): Promise<void> {
    expect(await service?.list()).toBe(this.#model.list());
  }
}

for (const kind of engineKinds) {
  const also = kind.durable ? " and restarts" : "";
  test(`random operations${kind.isShared ? ", restarts and crashes, through two processes on one store," : also} agree with a Map [${kind.name}]`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
        const system = new System(await kind.createStore(), kind);
        await system.start();
        try {
          for (const step of steps) await system.run(step);
          await system.checkList();
        } finally {
          await system.stop();
        }
      }),
      { numRuns: 100 },
    );
  }, 300_000);
}
