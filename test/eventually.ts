// For what happens by itself, sooner or later.

/** Tries until it holds; where it never does, the last failure is the test's. */
export async function eventually(claim: () => Promise<unknown>): Promise<void> {
  const giveUpAt = performance.now() + 20_000;
  for (;;) {
    try {
      await claim();
      return;
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await Bun.sleep(20);
    }
  }
}
