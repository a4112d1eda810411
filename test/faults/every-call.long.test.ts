// Every tenth call of each script fails, in each way, until something is wrong. `npm run torture -- --only "every call"`
// does the same with every call, and `npm test` with as many as it has time for. EVERY_CALL_STEP=1 tries them all here.

import { expect, test } from "bun:test";
import { missingStrace, Tally } from "../torture/part.ts";
import { Random } from "../wire/random.ts";
import { failCalls, scriptNames, withScripts } from "./every-call.ts";

const step = Number(process.env["EVERY_CALL_STEP"] ?? 10);
const seed = Math.floor(Math.random() * 2 ** 31);

for (const name of scriptNames)
  test.skipIf(missingStrace() !== undefined)(`${name}: whichever call fails, nobody has to help (seed ${seed})`, () =>
    withScripts(async (scripts) => {
      const tally = new Tally();
      const chosen = scripts.filter((script) => script.name === name);
      await failCalls(chosen, { random: new Random(seed), tally, goOn: () => tally.findings.length === 0, step });
      expect(tally.findings).toEqual([]);
      expect(tally.operations).toBeGreaterThan(5);
    }),
  );
