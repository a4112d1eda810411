// `npm run breaks`: makes each mistake of the table in a copy of the project, and demands that the tests notice it.
// Ends with 1 if one stays unnoticed.
//
//   npm run breaks [-- TEXT]        only rows whose name or file contains the text

import { objectionsTo } from "./broken-copy.ts";
import { breaks } from "./table.ts";

/** Most of these tests wait for a disk or another process. */
const atOnce = 2;

const [selected = ""] = process.argv.slice(2);
const waiting = breaks.filter(({ name, file }) => name.includes(selected) || file.includes(selected));
const total = waiting.length;
let unnoticed = 0;

await Promise.all(Array.from({ length: atOnce }, work));
console.log(`${total - unnoticed} of ${total} mistakes were noticed`);
process.exit(total > 0 && unnoticed === 0 ? 0 : 1);

async function work(): Promise<void> {
  for (let broken = waiting.shift(); broken; broken = waiting.shift()) {
    const objections = await objectionsTo(broken);
    console.log(`${objections.length === 0 ? "noticed" : "NOT NOTICED"}: ${broken.name} (${broken.file})`);
    for (const objection of objections) console.log(`  ${objection}`);
    if (objections.length > 0) unnoticed++;
  }
}
