// What becomes of a store whose files somebody changes: while the service runs, after it was killed, and while a command
// works on the store. Each test runs the real program. The service never mixes two stores, never throws away a log that
// may have commits, and loses nothing that it has answered: an item is in the store or in the backup that it saves.
// changed-files.ts does the same at random moments.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { runProgram } from "../program.ts";
import { missingStrace } from "../torture/part.ts";
import { fileCalls, killedRestore, killedService } from "./changed-files.ts";
import { itemsIn, StoredService } from "./stored-service.ts";

let service: StoredService;
beforeEach(() => {
  service = new StoredService();
});
/** Services that a test has started beside it. They end also if the test fails. */
const others: StoredService[] = [];
afterEach(async () => {
  for (const one of [service, ...others.splice(0)]) await one.dispose();
});

function another(path: string): StoredService {
  const made = new StoredService(path);
  others.push(made);
  return made;
}

/** Runs another program in the folder of the store. */
function runOther(...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: service.folder });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
  return stdout.toString();
}

/** Writes large items until the service has copied its log into the store. */
async function createUntilCheckpoint(): Promise<void> {
  const { mtimeMs } = statSync(service.path);
  while (statSync(service.path).mtimeMs === mtimeMs) await service.create(1, 900_000);
  // The copying has begun, and may still go on. The next write is answered after it.
  await service.create(1);
}

/** The ETag of the list without its version: the epoch. */
async function epoch(): Promise<string> {
  const tag = (await service.program.fetch("/api/todoitems/")).headers.get("ETag") ?? "";
  return tag.replace(/^"|-.*$/g, "");
}

/** Starts the service. It must serve exactly these items, or refuse in a sentence and change nothing. */
async function expectServedOrRefused(items: readonly string[]): Promise<void> {
  const before = service.files();
  const refusal = await service.startOrRefusal();
  if (refusal === undefined) expect(await service.served()).toEqual([...items]);
  else {
    expect(refusal).toStartWith("error: todoitems cannot start: ");
    expect(service.files()).toEqual(before);
  }
}

/** If the service has refused the files, tells it to go on with them. It then serves exactly these items. */
async function expectAccepted(items: readonly string[]): Promise<void> {
  if (!service.isRunning) {
    expect(await service.run("accept")).toMatchObject({ exitCode: 0 });
    await service.start();
  }
  expect(await service.served()).toEqual([...items]);
}

describe("a file is put over the store of a running service", () => {
  const ways: Record<string, readonly string[]> = {
    cp: ["cp", "older/store.db", "store.db"],
    mv: ["mv", "older/store.db", "store.db"],
    cat: ["sh", "-c", "cat older/store.db > store.db"],
    "tar --overwrite": ["sh", "-c", "tar -C older -cf - store.db | tar --overwrite -xf -"],
    "rsync --inplace": ["rsync", "--inplace", "--ignore-times", "older/store.db", "store.db"],
  };
  for (const [name, command] of Object.entries(ways))
    test.skipIf(!Bun.which(name.split(" ")[0] ?? ""))(
      `${name}: no later write is answered, the file is intact, and the next start serves it or refuses`,
      async () => {
        await service.start();
        await service.create(10);
        await service.stop();
        mkdirSync(service.file("older"));
        copyFileSync(service.path, service.file("older/store.db"));
        const older = readFileSync(service.path);
        // The pages that these items change are different in the older file, and so is the log.
        await service.start();
        await service.create(10);
        await service.stop();
        await service.start();
        await service.create(10);
        const oldEpoch = await epoch();
        runOther(...command);
        const { exitCode, saved } = await service.writeUntilItEnds();
        expect({ exitCode, saved }).toEqual({ exitCode: 1, saved: service.answered });
        expect(readFileSync(service.path).equals(older)).toBe(true);
        await expectServedOrRefused(service.answered.slice(0, 10));
        await expectAccepted(service.answered.slice(0, 10));
        expect(await epoch()).not.toBe(oldEpoch);
      },
    );

  const others: Record<string, () => Promise<void>> = {
    "a backup": async () => {
      expect(await service.run("backup", "other.db")).toMatchObject({ exitCode: 0 });
    },
    "a copy of the running store from before its last checkpoint": async () => {
      copyFileSync(service.path, service.file("other.db"));
      await createUntilCheckpoint();
    },
  };
  for (const [name, make] of Object.entries(others))
    test(`${name} is not mixed with the log either`, async () => {
      await service.start();
      await service.create(10);
      await createUntilCheckpoint();
      await make();
      await service.create(10);
      const other = readFileSync(service.file("other.db"));
      runOther("cp", "other.db", "store.db");
      expect(await service.writeUntilItEnds()).toMatchObject({ exitCode: 1, saved: service.answered });
      expect(readFileSync(service.path).equals(other)).toBe(true);
      await expectServedOrRefused(itemsIn(service.path));
      await expectAccepted(itemsIn(service.path));
    });
});

describe("the store of a running service is moved away and back", () => {
  for (const when of ["at once", "after the service has ended"])
    test(`and back ${when}: the next start has every answered item`, async () => {
      await service.start();
      await service.create(20);
      renameSync(service.path, service.file("away.db"));
      expect((await service.ledger.create(service.program, 20)).outcome).toBe("refused");
      if (when === "at once") renameSync(service.file("away.db"), service.path);
      const { exitCode, saved } = await service.ended();
      expect({ exitCode, saved }).toEqual({ exitCode: 1, saved: service.answered });
      if (when !== "at once") renameSync(service.file("away.db"), service.path);
      await service.start();
      expect(await service.served()).toEqual(service.answered);
    });
});

describe("files of a running service are removed or changed", () => {
  const changes: Record<string, () => void> = {
    "the log is removed": () => rmSync(`${service.path}-wal`),
    "the log is emptied": () => truncateSync(`${service.path}-wal`),
    "the log is overwritten": () => writeFileSync(`${service.path}-wal`, Buffer.alloc(20_000, 1)),
    "another log is moved over it": () => {
      copyFileSync(`${service.path}-wal`, service.file("other-log"));
      renameSync(service.file("other-log"), `${service.path}-wal`);
    },
    "the store is removed": () => rmSync(service.path),
    "the store and its log are removed": () => {
      for (const ending of ["", "-wal", "-shm"]) rmSync(service.path + ending);
    },
  };
  for (const [name, change] of Object.entries(changes))
    test(`${name}: the service ends, and every answered item is in the backup that it saves`, async () => {
      await service.start();
      await service.create(20);
      change();
      expect(await service.writeUntilItEnds()).toMatchObject({ exitCode: 1, saved: service.answered });
      // The backup is a store like any other.
      const copy = readdirSync(service.folder).find((entry) => entry.includes("saved"));
      const { exitCode } = await service.run("check", service.file(copy ?? ""));
      expect(exitCode).toBe(0);
    });

  test("another program commits with SQLite: it is noticed before the next commit", async () => {
    await service.start();
    await service.create(20);
    expect(await service.runSql("DELETE FROM change WHERE version = 1")).toBe(0);
    expect(await service.writeUntilItEnds()).toMatchObject({ exitCode: 1, saved: service.answered });
  });
});

describe("the service was killed, and files were changed before the next start", () => {
  for (const [name, change] of Object.entries({
    removed: () => rmSync(`${service.path}-wal`),
    emptied: () => truncateSync(`${service.path}-wal`),
  }))
    test(`the log was ${name}: the start is refused with what to do, and changes nothing`, async () => {
      await service.start();
      await service.create(20);
      await service.stop("SIGKILL");
      change();
      const before = service.files();
      const refusal = await service.startOrRefusal();
      expect(refusal).toMatch(/store\.db.*log.*todoitems accept/);
      expect(service.files()).toEqual(before);
      // The start goes on refusing until the command is given.
      expect(await service.startOrRefusal()).toBe(refusal ?? "");
      await expectAccepted(itemsIn(service.path));
    });

  const copies: Record<string, () => Promise<void>> = {
    "a backup": async () => {
      expect(await service.run("backup", "other.db")).toMatchObject({ exitCode: 0 });
    },
    "a copy that VACUUM INTO made": async () => {
      expect(await service.runSql("VACUUM INTO 'other.db'")).toBe(0);
    },
    "a copy that the backup API made": async () => {
      expect(await service.runSql(Bun.which("sqlite3") ? ".backup other.db" : "VACUUM INTO 'other.db'")).toBe(0);
    },
    "a copy of the file from before its last checkpoint": async () => {
      copyFileSync(service.path, service.file("other.db"));
      await createUntilCheckpoint();
    },
  };
  for (const [name, make] of Object.entries(copies))
    test(`${name} is in the place of the store, beside its log: the log is neither replayed nor deleted`, async () => {
      await service.start();
      await service.create(10);
      await createUntilCheckpoint();
      await service.create(10);
      await make();
      await service.create(10);
      await service.stop("SIGKILL");
      const log = readFileSync(`${service.path}-wal`);
      copyFileSync(service.file("other.db"), service.path);
      await expectServedOrRefused(itemsIn(service.path));
      await expectAccepted(itemsIn(service.file("other.db")));
      const logs = readdirSync(service.folder).filter((entry) => entry.includes("-wal"));
      expect(logs.some((entry) => readFileSync(service.file(entry)).equals(log))).toBe(true);
    });
});

describe("locks belong to the process", () => {
  test("after every command and every look at the store, SQLite's locks still hold", async () => {
    await service.start();
    await service.create(10);
    for (const look of [
      () => service.run("backup", "other.db"),
      () => service.run("check"),
      () => service.run("export", "items.json", "--server", service.program.origin),
      () => service.run("doctor", "--port", new URL(service.program.origin).port),
      () => service.program.fetch("/health/ready"),
      () => service.program.fetch("/metrics"),
      () => service.runSql("SELECT count(*) FROM item"),
    ]) {
      await look();
      await service.create(3);
      // If a lock were missing, this would be the last program that has the store open, and would delete the log.
      expect(await service.runSql("SELECT count(*) FROM item")).toBe(0);
      expect(statSync(`${service.path}-wal`).size).toBeGreaterThan(0);
    }
    await service.stop("SIGKILL");
    await service.start();
    expect(await service.served()).toEqual(service.answered);
  });
});

describe("one process owns a store", () => {
  /** What a second process says while it waits, and when it ends. */
  const sentences = () => {
    const inUse = `store\\.db: process ${service.program.pid} has this store open`;
    return new RegExp(`${inUse}\\. Waiting up to \\d+ s for it to end.*${inUse}; .*PostgreSQL`);
  };

  test("a second service and a restore wait, then end with the file, the process and PostgreSQL", async () => {
    await service.start();
    await service.create(3);
    symlinkSync("store.db", service.file("link.db"));
    expect(await service.run("backup", "backup.db")).toMatchObject({ exitCode: 0 });
    const seconds = ["store.db", "link.db"].flatMap((name) => [
      service.run("serve", "--port", "0", "--store", `sqlite:${name}`),
      service.run("restore", "backup.db", "--force", "--store", `sqlite:${name}`),
    ]);
    for (const { exitCode, stdout, stderr } of await Promise.all(seconds))
      expect({ exitCode, stdout, stderr: stderr.replace(/\s+/g, " ") }).toEqual({
        exitCode: 1,
        stdout: "",
        stderr: expect.stringMatching(sentences()),
      });
    await service.create(3);
    expect(await service.served()).toEqual(service.answered);
  });

  test("a service that is being replaced hands the store over", async () => {
    // The stop takes a second, and the other start begins at once.
    await service.start({ flags: ["--shutdown-delay", "1"] });
    await service.create(3);
    const second = another(service.path);
    const starting = second.start();
    await service.stop();
    await starting;
    expect(await second.served()).toEqual(service.answered);
  });

  test("by a hard link it is refused at once", async () => {
    await service.start();
    await service.create(3);
    linkSync(service.path, service.file("other-name.db"));
    const { exitCode, stderr } = await service.run("serve", "--port", "0", "--store", "sqlite:other-name.db");
    expect({ exitCode, stderr: stderr.replace(/\s+/g, " ") }).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining("other-name.db"),
    });
    await service.create(3);
    await service.stop();
    await service.start();
    expect(await service.served()).toEqual(service.answered);
  });

  test("by a hard link it is refused although it was closed under the name of the link", async () => {
    await service.start();
    await service.create(3);
    await service.stop();
    const other = another(service.file("other-name.db"));
    linkSync(service.path, other.path);
    await other.start();
    expect(await service.startOrRefusal()).toContain("another name of a store in use");
    await other.stop();
    await service.start();
    expect(await service.served()).toEqual(service.answered);
  });
});

const asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
const isRoot = process.geteuid?.() === 0;

test.skipIf(process.platform !== "linux" || (isRoot && !Bun.which("setpriv")))(
  "a read-only service in a folder that it may not write opens the store as it is, and makes no file",
  async () => {
    await service.start();
    await service.create(10);
    await service.stop();
    const before = service.answered;
    rmSync(`${service.path}-lock`, { force: true });
    const files = service.files();
    chmodSync(service.path, 0o444);
    chmodSync(service.folder, 0o555);
    try {
      await service.start({ flags: ["--read-only"], launcher: isRoot ? asNobody : [] });
      await service.create(1);
      expect(await service.served()).toEqual(before);
      await service.stop();
      expect(service.files()).toEqual(files);
    } finally {
      chmodSync(service.folder, 0o755);
    }
  },
);

describe.skipIf(missingStrace() !== undefined)("with strace", () => {
  test("kill -9 while the service starts, stops or gives up: the next start has every answered item", async () => {
    for (const call of fileCalls) for (const n of [1, 4, 7]) await killedService(service, call, n);
    expect(service.answered.length).toBeGreaterThan(0);
  });

  for (const isDamaged of [false, true])
    for (const [call, n] of [
      ["^fsync|^fdatasync", 6],
      ["^rename", 1],
      ["^rename", 3],
      ["^unlink", 9],
    ] as const)
      test(`restore over ${isDamaged ? "a damaged" : "a sound"} store, killed at call ${n} of ${call}: the old store or the new one, and the other is complete`, () =>
        killedRestore(service, call, n, isDamaged));

  test("a read error of the disk is called that, and not damage", async () => {
    await service.start();
    await service.create(200);
    await service.stop();
    const failing = (n: number) => [
      ...["strace", "-D", "-f", "-qq", "-o", "/dev/null", "-P", service.path],
      ...["-e", "trace=pread64,read", "-e", `inject=pread64:error=EIO:when=${n}+`],
      ...["-e", "inject=read:error=EIO"],
    ];
    for (const n of [1, 3, 6])
      for (const [command, ...args] of [
        ["serve", "--port", "0"],
        ["check"],
        ["backup", "other.db"],
        ["doctor", "--port", "0"],
      ] as const) {
        const { stdout, stderr } = await runProgram(command, {
          args,
          cwd: service.folder,
          environment: { TODOITEMS_STORE: `sqlite:${service.path}` },
          launcher: failing(n),
        });
        const text = (stdout + stderr).replace(/\s+/g, " ");
        expect([command, n, text]).toEqual([command, n, expect.stringContaining("the disk reported an error")]);
        expect([command, n, text]).toEqual([command, n, expect.not.stringContaining("damaged")]);
      }
  });
});
