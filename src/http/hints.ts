// Hints in the log about clients that hide the errors they get. Each hint is logged once for each cause and address.

import type { HttpRequest } from "../wire/message.ts";
import type { Access } from "./access.ts";
import type { Log } from "./log.ts";

/** Hints are logged for at most this many addresses, so that a hostile client cannot fill the log. */
const addressesMax = 100;

export class Hints {
  readonly #access: Access;
  readonly #log: Log;
  /** The causes of the hints that were logged, by address. */
  readonly #logged = new Map<string, Set<string>>();

  constructor({ access, log }: { readonly access: Access; readonly log: Log }) {
    this.#access = access;
    this.#log = log;
  }

  /** `what` continues a sentence that begins with the client's address. */
  give(cause: "credentials" | "forms" | "ID name", request: HttpRequest, what: string): void {
    const address = this.#access.addressOf(request);
    const causes = this.#logged.get(address) ?? new Set();
    if (causes.has(cause) || (causes.size === 0 && this.#logged.size >= addressesMax)) return;
    this.#logged.set(address, causes.add(cause));
    this.#log("info", `${address} has ${what}`, { address });
  }
}
