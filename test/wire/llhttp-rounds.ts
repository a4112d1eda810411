// `npm run test:wire`: compares how we and llhttp read a million random messages. Prints the seed, and the streams in
// which we accept something that llhttp refuses or reads differently. Stops early if there are ten of them.
// `npm run test:wire -- --seed 1 --messages 20000` repeats a run.

import { parseArgs } from "node:util";
import { compareRandom, describeFinding, Oracle } from "./llhttp-comparison.ts";

const { values } = parseArgs({ options: { seed: { type: "string" }, messages: { type: "string" } } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
console.log(`seed ${seed}`);
const oracle = new Oracle();
const startedAt = performance.now();
const { messages, accepted, findings } = await compareRandom(oracle, seed, Number(values.messages ?? 1_000_000));
await oracle.stop();
for (const finding of findings) console.log(describeFinding(finding));
const seconds = Math.round((performance.now() - startedAt) / 1_000);
console.log(`${messages} messages, ${accepted} accepted, ${findings.length} read differently, ${seconds} s`);
process.exit(findings.length === 0 ? 0 : 1);
