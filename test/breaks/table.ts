// Small mistakes that the tests must notice. Each row breaks one line of the program, and names tests that then fail.
// `npm run breaks` tries them all. If you change a line that a row quotes, change the row with it.

export interface Break {
  /** The mistake, as a short sentence. */
  readonly name: string;
  readonly file: string;
  /** It is in the file exactly once. */
  readonly text: string;
  readonly replacement: string;
  /** The tests that notice it. Each of them must fail. */
  readonly tests: readonly NoticingTest[];
}

export interface NoticingTest {
  readonly file: string;
  /** A part of the titles of the tests to run, as `bun test -t` takes it. All tests of the file, if this is missing. */
  readonly title?: string;
}

export const breaks: readonly Break[] = [
  {
    name: "a failed commit is not erased",
    file: "src/engines/sqlite/sqlite-store.ts",
    text: "this.#hasFailedCommit = hasRows && !isFailedWrite(error);",
    replacement: "this.#hasFailedCommit = false;",
    tests: [{ file: "test/torture/torture.test.ts", title: "failed syncs" }],
  },
];
