// Any difference between the rows that were written and the rows that are read back is noticed.

import { expect, test } from "bun:test";
import type { Change } from "../../../src/collection/engine.ts";
import { CommandError } from "../../../src/commands/command-line/errors.ts";
import { compareRows, RowsHash } from "../../../src/commands/stores/rows-hash.ts";
import { ids, item } from "../../service.ts";

const rows: readonly Change[] = [
  { version: 1, position: 1, id: ids.one, json: item(ids.one) },
  { version: 3, position: 2, id: ids.two, json: item(ids.two) },
];

async function* each(all: readonly Change[]): AsyncGenerator<Change> {
  yield* all;
}

async function compare(found: readonly Change[]): Promise<string> {
  const written = new RowsHash();
  for await (const _ of written.adding(each(rows)));
  return compareRows(written, each(found));
}

test("equal rows have the hash of their items, and other rows are refused", async () => {
  const [one, two] = rows as [Change, Change];
  expect(await compare(rows)).toMatch(/^[0-9a-f]{64}$/);
  for (const other of [
    [one],
    [two, one],
    [one, two, two],
    [one, { ...two, position: 3 }],
    [one, { ...two, json: item(ids.two, '"n":1') }],
  ])
    expect(compare(other)).rejects.toBeInstanceOf(CommandError);
});
