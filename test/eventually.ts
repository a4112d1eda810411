// Waits for a condition to become true.

const giveUpMs = 60_000;

/**
 * Resolves once the condition holds: it throws nothing and does not return false. If that takes too long, throws an
 * error that names the condition. The cause of this error is the condition's last failure.
 */
export async function eventually(condition: () => unknown, what = String(condition)): Promise<void> {
  const giveUpAt = performance.now() + giveUpMs;
  for (;;) {
    const failure = await failureOf(condition);
    if (failure === undefined) return;
    if (performance.now() > giveUpAt) throw new Error(`This did not happen within ${giveUpMs} ms: ${what}`, failure);
    await Bun.sleep(5);
  }
}

/** Says why the condition does not hold yet. Undefined if it holds. */
async function failureOf(condition: () => unknown): Promise<{ readonly cause?: unknown } | undefined> {
  try {
    return (await condition()) === false ? {} : undefined;
  } catch (error) {
    return { cause: error };
  }
}
