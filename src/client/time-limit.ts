// Waits for something, but not longer than a time limit, and not after the caller has aborted.

/** `setTimeout` cannot wait longer than this. */
export const timerMsMax = 2 ** 31 - 1;

/** Returns what the work returns, or undefined if that takes longer than `ms`. Throws if the signal is aborted. */
export async function within<Result>(
  ms: number,
  signal: AbortSignal | undefined,
  work: Promise<Result>,
): Promise<Result | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort = () => {};
  const limit = new Promise<undefined>((resolve, reject) => {
    onAbort = () => reject(abortReason(signal));
    timer = setTimeout(resolve, Math.min(ms, timerMsMax), undefined);
    signal?.addEventListener("abort", onAbort);
    if (signal?.aborted) onAbort();
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await within(ms, signal, new Promise<never>(() => {}));
}

/** What an aborted call throws: the signal's reason or, where signals have no reason, an error named `AbortError`. */
export function abortReason(signal: AbortSignal | undefined): unknown {
  return signal?.reason ?? Object.assign(new Error("The call was aborted."), { name: "AbortError" });
}
