// The ledger notices what the attacks look for: if it accepted a wrong store, their results would mean nothing.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { Program } from "../program.ts";
import { Random } from "../wire/random.ts";
import { type Items, itemsOf, Ledger, type Write, Writer } from "./ledger.ts";
import { Tally } from "./part.ts";

let program: Program;
let ledger: Ledger;
beforeEach(async () => {
  program = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
  ledger = new Ledger();
});
afterEach(() => program.stop("SIGKILL"));

function findings(items: Items): string[] {
  const tally = new Tally();
  ledger.check(items, tally);
  return tally.findings.map((finding) => finding.slice(0, finding.indexOf(":")));
}

/** A create that got no answer. */
async function unanswered(): Promise<Write> {
  await program.stop("SIGKILL");
  return ledger.create(program, 5);
}

test("the list of a service agrees with what its clients were told", async () => {
  const writers = Array.from({ length: 5 }, () => new Writer(ledger, new Random(1)));
  await Promise.all(
    writers.map(async (writer) => {
      for (let n = 0; n < 30; n++) await writer.write(program);
    }),
  );
  expect(findings(itemsOf(await program.list()))).toEqual([]);
  expect(new Map(ledger.items)).toEqual(new Map(itemsOf(await program.list())));
});

test("a lost write, an old state and an item that nobody wrote are noticed", async () => {
  const { id, json = "" } = await ledger.create(program, 5);
  const { json: newer = "" } = await ledger.update(program, id, 5);
  expect(findings(new Map([[id, newer]]))).toEqual([]);
  expect(findings(new Map())).toEqual(["an answered write is lost"]);
  expect(findings(new Map([[id, json]]))).toEqual(["an answered write is lost"]);
  expect(findings(new Map([[id, newer.slice(0, -1)]]))).toEqual(["nobody wrote this"]);
  expect(
    findings(
      new Map([
        [id, newer],
        ["other", "{}"],
      ]),
    ),
  ).toHaveLength(1);
});

test("a write without an answer may be there or not, until a restart has decided it", async () => {
  const { id, json = "" } = await unanswered();
  expect(findings(new Map())).toEqual([]);
  expect(findings(new Map([[id, json]]))).toEqual([]);
  ledger.settle(new Map());
  expect(findings(new Map([[id, json]]))).toEqual(["a refused write is there"]);
});

test("a list that is not in order of creation is noticed", async () => {
  const [first, second] = [await ledger.create(program, 5), await ledger.create(program, 5)];
  const swapped = new Map([second, first].map(({ id, json = "" }) => [id, json]));
  expect(findings(swapped)).toHaveLength(1);
});
