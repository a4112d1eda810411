// The time limit of every test. test/run.ts sets it, and test/preload.ts does for tests that an editor runs. No test has
// a limit of its own.

/** Many times what the longest test takes, because machines may be slow or busy. Only a test that hangs is ended. */
export const timeLimitMs = 300_000;
