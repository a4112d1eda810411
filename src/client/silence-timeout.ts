// Waits for the server, but gives up if the server is silent for too long or the caller aborts.

import { brokenAnswer, noAnswer, type RequestName, TimeoutError } from "./errors.ts";

/** `setTimeout` cannot wait longer than this. */
const timerMsMax = 2 ** 31 - 1;

/** Limits how long to wait for each step of one reply: first for its head, then for each piece of its body. */
export class SilenceTimeout {
  readonly #request: RequestName;
  readonly #silenceMsMax: number;
  readonly #callersSignal: AbortSignal | undefined;
  readonly #controller = new AbortController();
  /** Aborted when the caller aborts, when the server has been silent for too long, or by `giveUp`. */
  readonly signal: AbortSignal;
  /** True once the head of the reply has arrived. */
  #hasBegun = false;

  constructor(request: RequestName, silenceMsMax: number, callersSignal: AbortSignal | undefined) {
    this.#request = request;
    this.#silenceMsMax = silenceMsMax;
    this.#callersSignal = callersSignal;
    this.signal = callersSignal ? AbortSignal.any([callersSignal, this.#controller.signal]) : this.#controller.signal;
  }

  async wait<Result>(step: () => Promise<Result>): Promise<Result> {
    let silent = false;
    const timer = setTimeout(
      () => {
        silent = true;
        this.giveUp();
      },
      Math.min(this.#silenceMsMax, timerMsMax),
    );
    try {
      this.#callersSignal?.throwIfAborted();
      const result = await step();
      this.#hasBegun = true;
      return result;
    } catch (cause) {
      if (this.#callersSignal?.aborted) throw this.#callersSignal.reason;
      if (silent)
        throw new TimeoutError(this.#request, `no sign of the server for ${this.#silenceMsMax} ms`, { cause });
      throw this.#hasBegun ? brokenAnswer(this.#request, cause) : noAnswer(this.#request, cause);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes the connection. */
  giveUp(): void {
    this.#controller.abort();
  }
}
