// `npm run test:load`: runs the load for some minutes and writes its figures as CSV and as a chart.
//
//   npm run test:load -- --minutes 30 [--seed 1] [--publish]
//
// With --publish, the two files are written to docs/images. Otherwise they go to the folder for temporary files.

import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { projectFolder } from "../program.ts";
import { Tally } from "../torture/part.ts";
import { load } from "./load.ts";
import { chartOf, csvOf } from "./samples.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
    publish: { type: "boolean", default: false },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
const tally = new Tally();
const samples = await load({
  seconds: minutes * 60,
  seed,
  tally,
  onSample: (sample) => {
    if (sample.second % 10 === 0) console.log(JSON.stringify(sample));
  },
});
const folder = values.publish ? join(projectFolder, "docs/images") : tmpdir();
const command = `npm run test:load -- --minutes ${minutes} --seed ${seed}`;
await Bun.write(join(folder, "load.csv"), csvOf(samples));
await Bun.write(join(folder, "load.svg"), chartOf(samples, command));
console.log(`${command}: ${JSON.stringify(tally.notes)}\nWrote load.csv and load.svg to ${folder}`);
for (const finding of new Set(tally.findings)) console.log(`BROKEN ${finding}`);
process.exit(tally.wrong === 0 ? 0 : 1);
