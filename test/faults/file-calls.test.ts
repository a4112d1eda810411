// Reads the calls that strace has recorded, and finds the words that make one of them fail.

import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { faults, Recording } from "./file-calls.ts";

const folder = temporaryFolder();
afterAll(folder.dispose);
const log = join(folder.path, "calls.txt");
writeFileSync(
  log,
  `10 openat(AT_FDCWD</s>, "/s/store.db", O_RDWR|O_CREAT|O_NOFOLLOW|O_CLOEXEC, 0644) = 3</s/store.db>
10 openat(AT_FDCWD</s>, "/s/store.db-wal", O_RDWR|O_CREAT|O_NOFOLLOW|O_CLOEXEC, 0644) = 4</s/store.db-wal>
10 unlink("/s/store.db-journal")        = -1 ENOENT (No such file or directory)
10 pwrite64(4</s/store.db-wal>, "1", 1, 0) = 1
10 fsync(4</s/store.db-wal> <unfinished ...>
11 fsync(3</s/store.db>)                = 0
10 <... fsync resumed>)                 = 0
10 rename("/s/store.db-record.partial", "/s/store.db-record") = 0
10 openat(AT_FDCWD</s>, "/s/store.db-record", O_WRONLY|O_CREAT|O_CLOEXEC, 0644) = 5</s/store.db-record>
10 unlink("/s/store.db-wal")            = 0
10 openat(AT_FDCWD</s>, "/s/store.db-wal", O_RDWR|O_CREAT|O_NOFOLLOW|O_CLOEXEC, 0644) = 4</s/store.db-wal>
10 +++ exited with 0 +++
`,
);
const recorded = new Recording(log, ["store.db"]);

/** The calls that fail, as strace is told. */
function failing(name: string, n: number): string[] {
  const fault = faults.find((one) => one.name === name) ?? { name, lasts: false };
  return recorded.failing(fault, n, [], "/dev/null").filter((word) => word.startsWith("inject="));
}

test("a call counts if it changes or syncs a file, and the first thread with such a call has made it", () => {
  expect(recorded.changes.map(({ text, index }) => `${text} ${index}`)).toEqual([
    "openat store.db-wal 2",
    "pwrite64 store.db-wal 1",
    "fsync store.db-wal 1",
    "rename store.db-record.partial 1",
    "unlink store.db-wal 2",
    "openat store.db-wal 4",
  ]);
});

test("a fault for one call, and a kill before a call, are told the name of the call and how often it came before", () => {
  expect(failing("the disk fails for one call", 5)).toEqual(["inject=unlink:error=EIO:when=2"]);
  expect(failing("killed before a call", 3)).toEqual(["inject=fsync:signal=SIGKILL:when=1"]);
});

test("a fault that lasts begins with the call, whatever the later calls are", () => {
  const words = failing("the disk is full from a call on", 3);
  expect(words).toContain("inject=fsync:error=ENOSPC:when=1+");
  expect(words).toContain("inject=pwrite64:error=ENOSPC:when=2+");
  expect(words).toContain("inject=unlink:error=ENOSPC:when=2+");
  expect(words.filter((word) => word.startsWith("inject=openat"))).toEqual([]);
  expect(failing("the disk is full from a call on", 6)).toContain("inject=openat:error=ENOSPC:when=4");
});
