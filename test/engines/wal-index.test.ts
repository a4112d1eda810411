import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { WalIndex } from "../../src/engines/wal-index.ts";
import { temporaryFolder } from "./engine-kinds.ts";

const folder = temporaryFolder();

test("the header moves with every commit of any connection, and with nothing else", () => {
  const path = join(folder.path, "watched.db");
  const [one, two] = [new Database(path), new Database(path)];
  one.run("PRAGMA journal_mode = WAL");
  one.run("CREATE TABLE note (text TEXT)");
  const index = WalIndex.open(path);
  if (!index) throw new Error("not mapped");
  expect(index.hasMoved).toBeTrue();
  index.remember();
  for (let round = 0; round < 3_000; round++) {
    const writer = round % 2 === 0 ? one : two;
    two.query("SELECT count(*) FROM note").get();
    expect(index.hasMoved).toBeFalse();
    writer.run("INSERT INTO note VALUES ('x')");
    expect(index.hasMoved).toBeTrue();
    index.remember();
  }
  index.forget();
  expect(index.hasMoved).toBeTrue();
  one.close();
  two.close();
});

test("a store without the file is one that must be asked", () => {
  expect(WalIndex.open(join(folder.path, "none.db"))).toBeUndefined();
});
