// Small mistakes that the tests must notice. Each row breaks one line of the program, and names tests that then fail.
// `npm run breaks` tries them all, `npm run test:all` the quick ones, and `npm run torture` the others. If you change a
// line that a row quotes, change the row with it.

import { listBreaks } from "./list-breaks.ts";
import { offlineBreaks } from "./offline-breaks.ts";
import { sharedStoreBreaks } from "./shared-store-breaks.ts";

export interface Break {
  /** The mistake, as a short sentence. */
  readonly name: string;
  readonly file: string;
  /** It is in the file exactly once. */
  readonly text: string;
  readonly replacement: string;
  /** True if the tests notice it within 5 s. */
  readonly isQuick?: boolean;
  /** The tests that notice it. Each of them must fail. */
  readonly tests: readonly NoticingTest[];
}

export interface NoticingTest {
  readonly file: string;
  /** A part of the titles of the tests to run, as `bun test -t` takes it. All tests of the file, if this is missing. */
  readonly title?: string;
  /** Environment variables for the tests. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Lets every call of a script fail, until something is wrong. */
const everyCall = (title: string): NoticingTest => ({
  file: "test/faults/every-call.long.test.ts",
  title: `^${title}: whichever`,
  environment: { EVERY_CALL_STEP: "1" },
});

export const breaks: readonly Break[] = [
  ...sharedStoreBreaks,
  ...offlineBreaks,
  ...listBreaks,
  {
    name: "a commit that wrote nothing is noted",
    file: "src/engines/sqlite/sqlite-store.ts",
    text: "if (lists.length === 0) return;",
    replacement: "",
    tests: [everyCall("life")],
  },
  {
    name: "a checkpoint that fails half-way is not noted",
    file: "src/engines/sqlite/store-files.ts",
    text: `    } finally {
      // A copy that fails half-way has changed the file, too.
      this.#looks = this.#storeLooks();
    }`,
    replacement: `    } finally {
    }
    this.#looks = this.#storeLooks();`,
    tests: [everyCall("life")],
  },
  {
    name: "the record is written after the log was copied",
    file: "src/engines/sqlite/store-files.ts",
    text: "else this.#writeRecord({ ...this.#record, marks: [...this.#record.marks, mark] });",
    replacement: "",
    tests: [everyCall("life")],
  },
  {
    name: "the record has the cookie of the file, and not that of the log",
    file: "src/engines/sqlite/store-files.ts",
    text: "const mark = readMark(this.#database);",
    replacement: "const mark = { ...readMark(this.#database), cookie: readHeaderOf(this.#store).cookie };",
    tests: [everyCall("after a kill")],
  },
  {
    name: "a failed commit is not erased",
    file: "src/engines/sqlite/sqlite-store.ts",
    text: "if (hasRows && isCommitting && !isFailedWrite(error)) this.#hasFailedCommit = true;",
    replacement: "",
    tests: [everyCall("life")],
  },
  {
    name: "a suspicion is cleared up without copying the log",
    file: "src/engines/sqlite/sqlite-store.ts",
    text: "if (this.#files.copyLog() > 0) throw",
    replacement: "if (this.#limits.checkpointFrames < 0) throw",
    tests: [{ file: "test/engines/sqlite/touched-files.test.ts", title: "nothing is lost at a kill" }],
  },
  {
    name: "a copy of a store in use is opened without its log, because a closed store was in its place",
    file: "src/engines/sqlite/store-record.ts",
    text: "if (!record || (!logBytes && !hasStamp(record, header))) {",
    replacement: "if (!record) {",
    tests: [{ file: "test/engines/sqlite/store-record.test.ts", title: "is not replaced by a copy of a store in use" }],
  },
  {
    name: "a store is opened although another service has it open under the name of a link",
    file: "src/engines/sqlite/open-store.ts",
    text: "if (!hasLog) changeStamp(database, file);",
    replacement: "",
    tests: [{ file: "test/faults/changed-files.long.test.ts", title: "by a hard link it is refused" }],
  },
];
