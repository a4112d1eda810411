// Waits for the server, but gives up if the server is silent for too long or the caller aborts.

import { NetworkError, noAnswer, type RequestName, reasonOf, TimeoutError } from "./errors.ts";

/** `setTimeout` cannot wait longer than this. */
const timerMsMax = 2 ** 31 - 1;

/** Limits how long to wait for each step of one reply: first for its head, then for each piece of its body. */
export class SilenceTimeout {
  readonly #request: RequestName;
  readonly #silenceMsMax: number;
  readonly #callersSignal: AbortSignal | undefined;
  readonly #controller = new AbortController();
  /** True once the head of the reply has arrived. */
  #hasBegun = false;

  constructor(request: RequestName, silenceMsMax: number, callersSignal: AbortSignal | undefined) {
    this.#request = request;
    this.#silenceMsMax = silenceMsMax;
    this.#callersSignal = callersSignal;
  }

  /** Aborted if the caller aborts or the server is silent for too long during `wait`, and by `giveUp`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async wait<Result>(step: () => Promise<Result>): Promise<Result> {
    const signal = this.#callersSignal;
    if (signal?.aborted) throw abortReason(signal);
    let end = (_error: unknown) => {};
    const ended = new Promise<never>((_, reject) => {
      end = (error) => {
        reject(error);
        this.giveUp();
      };
    });
    const onAbort = () => end(abortReason(signal));
    const onSilence = () => end(new TimeoutError(this.#request, `no sign of the server for ${this.#silenceMsMax} ms`));
    const timer = setTimeout(onSilence, Math.min(this.#silenceMsMax, timerMsMax));
    signal?.addEventListener("abort", onAbort);
    try {
      const result = await Promise.race([this.#try(step), ended]);
      this.#hasBegun = true;
      return result;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Closes the connection. */
  giveUp(): void {
    this.#controller.abort();
  }

  async #try<Result>(step: () => Promise<Result>): Promise<Result> {
    try {
      return await step();
    } catch (cause) {
      if (!this.#hasBegun) throw noAnswer(this.#request, cause);
      throw new NetworkError(this.#request, `the connection broke off: ${reasonOf(cause)}`, { cause });
    }
  }
}

/** What an aborted call throws: the signal's reason or, where signals have no reason, an error named `AbortError`. */
export function abortReason(signal: AbortSignal | undefined): unknown {
  return signal?.reason ?? Object.assign(new Error("The call was aborted."), { name: "AbortError" });
}
