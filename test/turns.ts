// For claims that something does not happen: waits for turns of the event loop, not for time.

/** Resolves after some turns of the event loop: enough for work that is ready to run. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** True if a promise is still unsettled after some turns of the event loop. */
export async function staysPending(promise: Promise<unknown>): Promise<boolean> {
  await turns();
  return Bun.peek.status(promise) === "pending";
}
