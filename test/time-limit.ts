// How long a test may take, whoever runs it: test/run.ts or an editor, by test/preload.ts. No test has a limit of its own.

/** Many times what the longest test takes, because machines may be slow or busy. Only a test that hangs is ended. */
export const timeLimitMs = 300_000;
