// `npm run torture`: runs every long test for its share of the time. Prints a table of the operations, the faults, the
// lost writes and the wrong results, then the same as JSON. The exit code is 1 if anything was lost or wrong. A seed
// repeats the random choices. The moments of kills and the order of concurrent requests still differ from run to run.
//
//   npm run torture -- --minutes 60 [--seed 1] [--only PART] [--publish]
//
// --only takes the beginning of a name: `--only fuzz` runs all parts whose names begin with "fuzz". --publish writes
// the figures into docs/reliability.md and docs/reliability.json.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { projectFolder } from "../program.ts";
import { Random } from "../wire/random.ts";
import { type Part, Tally } from "./part.ts";
import { parts } from "./parts.ts";
import { type Figures, isBroken, type PartFigures, textReport, withFigures } from "./report.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
    only: { type: "string" },
    publish: { type: "boolean", default: false },
  },
});
const chosen = parts.filter(({ name }) => name.startsWith(values.only ?? ""));
const minutes = Number(values.minutes);
const seed = Number(values.seed);
if (chosen.length === 0 || !(minutes > 0) || !Number.isSafeInteger(seed)) {
  console.error(`error: use --minutes N, --seed N and --only with one of: ${parts.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}

const skipped = new Map<Part, string>();
for (const part of chosen) {
  const missing = part.missing?.();
  if (missing !== undefined) skipped.set(part, missing);
}
// If a part cannot finish one round in its share of the time, it is skipped, and the other parts divide its share. So
// the parts with the longest rounds are examined first.
for (const part of chosen.toSorted((one, other) => (other.secondsMin ?? 0) - (one.secondsMin ?? 0))) {
  const { secondsMin = 0 } = part;
  if (!skipped.has(part) && shareOf(part, minutes * 60, chosen) < secondsMin) {
    skipped.set(part, `one round takes ${secondsMin} s; give more --minutes`);
  }
}

const results: PartFigures[] = [];
let secondsLeft = minutes * 60;
for (const [index, part] of chosen.entries()) {
  // A part can take less or more time than its share. The parts after it divide the time that is left.
  const result = await runPart(part, Math.max(1, shareOf(part, secondsLeft, chosen.slice(index))));
  secondsLeft -= result.seconds;
  results.push(result);
}

const report: Figures = {
  command: `npm run torture -- --minutes ${minutes} --seed ${seed}${values.only === undefined ? "" : ` --only "${values.only}"`}`,
  date: new Date().toISOString().slice(0, 10),
  seed,
  parts: results,
};
console.log(`\n${textReport(report)}\n\n${JSON.stringify(report)}`);
if (values.publish) {
  const document = join(projectFolder, "docs/reliability.md");
  writeFileSync(document, withFigures(readFileSync(document, "utf8"), report));
  writeFileSync(join(projectFolder, "docs/reliability.json"), `${JSON.stringify(report, undefined, 2)}\n`);
}
process.exit(isBroken(report) ? 1 : 0);

function shareOf(part: Part, seconds: number, among: readonly Part[]): number {
  const running = among.filter((other) => !skipped.has(other));
  return (seconds * part.weight) / running.reduce((sum, { weight }) => sum + weight, 0);
}

async function runPart(part: Part, seconds: number): Promise<PartFigures> {
  const { name, promise } = part;
  const reason = skipped.get(part);
  const tally = new Tally();
  const startedAt = performance.now();
  if (reason === undefined) {
    console.log(`${name}: ${Math.round(seconds)} s`);
    let shown = 0;
    const progress = setInterval(() => {
      console.log(`  ${name}: ${summary(tally)}`);
      for (; shown < tally.findings.length; shown++) console.log(`  BROKEN ${tally.findings[shown]}`);
    }, 30_000);
    try {
      const goOn = () => performance.now() - startedAt < seconds * 1_000;
      await part.run({ random: new Random(seed), tally, seconds, goOn });
    } catch (error) {
      tally.noteWrong(error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    clearInterval(progress);
    console.log(`  ${summary(tally)}`);
  }
  return { name, promise, skipped: reason, seconds: Math.round((performance.now() - startedAt) / 100) / 10, ...tally };
}

function summary({ operations, faults, lost, wrong }: Tally): string {
  return `${operations} operations, ${faults} faults, ${lost} lost, ${wrong} wrong`;
}
