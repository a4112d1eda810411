// Helpers for tests which show that something does not happen. They wait for turns of the event loop, not for a length
// of time.

/** Resolves after some turns of the event loop, enough for all work that is ready to run. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Returns whether a promise is still pending after some turns of the event loop. */
export async function staysPending(promise: Promise<unknown>): Promise<boolean> {
  await turns();
  return Bun.peek.status(promise) === "pending";
}
