// `npm run bench`: installs what it needs, measures everything, and writes the table of docs/performance.md.
//
//   npm run bench -- --quick        measures less, and prints the table
//   npm run bench -- --only TEXT    measures the scenes with TEXT in their titles, and prints the table
//   npm run bench -- --conformance  says which of the conformance cases of test/http Bun.serve passes

import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { conform } from "./conformance.ts";
import { writeReport } from "./report.ts";
import { Results } from "./results.ts";
import { scenes } from "./scenes.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean" }, only: { type: "string" }, conformance: { type: "boolean" } },
});
if (values.conformance) {
  await conform();
  // Connections that were never answered are still open.
  process.exit(0);
}

const programs = { wrk: "wrk", nginx: "nginx-light", openssl: "openssl", node: "nodejs", strace: "strace" };
for (const [program, debianPackage] of Object.entries(programs)) {
  if (Bun.which(program)) continue;
  console.error(`installing ${debianPackage}`);
  if (!Bun.spawnSync(["apt-get", "install", "--yes", debianPackage], { stderr: "inherit" }).success) {
    console.error(`${program} is needed: install it, on Debian with: apt-get install ${debianPackage}`);
    process.exit(1);
  }
}
if (!existsSync(join(import.meta.dir, "node_modules"))) {
  console.error("installing the peers; one of them may have to be compiled, which takes minutes");
  const { success } = Bun.spawnSync(["npm", "ci", "--no-audit", "--no-fund"], {
    cwd: import.meta.dir,
    stderr: "inherit",
  });
  if (!success) process.exit(1);
}

const seconds = values.quick ? 1 : 2;
const rounds = values.quick || values.only !== undefined ? 1 : 3;
const chosen = scenes.filter(({ title, isLong }) => !(values.quick && isLong) && title.includes(values.only ?? ""));
const results = new Results();
for (let number = 1; number <= rounds; number++) {
  for (const scene of chosen) {
    console.error(`round ${number} of ${rounds}: ${scene.title}`);
    await scene.run({ number, seconds, results });
  }
}
console.log(results.table());
if (!values.quick && values.only === undefined) await writeReport(results, rounds, seconds);
