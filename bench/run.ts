// `npm run bench`: installs what it needs, measures everything, and writes docs/performance.md and its charts. Only the
// section about PostgreSQL stays as it is (see postgres.ts).
//
// `npm run bench -- --quick` measures less, and takes under three minutes. `npm run bench -- --only TEXT` measures the
// scenes that have TEXT in their titles. Both write nothing, and print the figures instead.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { quick: { type: "boolean" }, rounds: { type: "string" }, only: { type: "string" } },
});

const programs = {
  wrk: "wrk",
  nginx: "nginx-light",
  openssl: "openssl",
  node: "nodejs",
  strace: "strace",
};
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

// Import these only after the peers were installed, because servers.ts looks for PocketBase when it is imported.
const { scenes } = await import("./scenes.ts");
const { Results } = await import("./results.ts");
const { writeReport } = await import("./report.ts");

const seconds = values.quick ? 1 : 2;
const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
const chosen = scenes.filter(({ title, long }) => !(values.quick && long) && title.includes(values.only ?? ""));
const results = new Results();
const total = rounds * chosen.length;
const startedAt = performance.now();
let done = 0;
for (let number = 1; number <= rounds; number++) {
  for (const scene of chosen) {
    const elapsed = (performance.now() - startedAt) / 1000;
    const left = done === 0 ? "" : `, ${Math.ceil((elapsed / done) * (total - done))} s left`;
    console.error(`[${done + 1}/${total}${left}] round ${number}: ${scene.title}`);
    await scene.run({ number, seconds, results });
    done++;
  }
}
await writeReport(results, rounds, seconds, values.quick === undefined && values.only === undefined);
