// A service on a store of some kind. It is restarted in between; if several processes may share the store, there are two
// of them, and some crash.

import type { EngineKind, TestStore } from "../engines/engine-kinds.ts";
import type { Send } from "../fuzz/requests.ts";
import { Service, type ServiceOptions } from "../service.ts";
import type { Random } from "../wire/random.ts";

export class RestartedService {
  readonly #store: TestStore;
  readonly #kind: EngineKind;
  readonly #random: Random;
  readonly #options: ServiceOptions;
  readonly #services: Service[] = [];
  readonly #abandoned: Service[] = [];

  constructor(store: TestStore, kind: EngineKind, random: Random, options: ServiceOptions = {}) {
    this.#store = store;
    this.#kind = kind;
    this.#random = random;
    this.#options = options;
  }

  async start(): Promise<void> {
    for (const index of this.#kind.isShared ? [0, 1] : [0]) this.#services[index] = await this.#open();
  }

  async stop(): Promise<void> {
    for (const { store } of [...this.#services, ...this.#abandoned]) await store.close();
    await this.#store.dispose();
  }

  readonly send: Send = async (method, path, init) => this.#service(this.#pick()).fetch(method, path, init);

  /**
   * A crashed process closes nothing. So after a crash, the old service stays open and is not used any more. The owner of
   * a SQLite file keeps it locked, so that one is closed; test/faults/kill.ts has its crashes.
   */
  async restart(): Promise<void> {
    const index = this.#pick();
    const service = this.#service(index);
    if (this.#kind.isShared && this.#random.chance(0.5)) this.#abandoned.push(service);
    else await service.store.close();
    this.#services[index] = await this.#open();
  }

  async #open(): Promise<Service> {
    return Service.on(await this.#store.open(), this.#options);
  }

  #pick(): number {
    return this.#random.below(this.#services.length);
  }

  #service(index: number): Service {
    const service = this.#services[index];
    if (!service) throw new Error("not started");
    return service;
  }
}
