// Sends the requests of the conformance tests to our app on Bun.serve. src/wire can go when they all pass and Bun.serve
// reaches 0.8 of its speed: see docs/decisions/0002-connections-of-our-own.md.

import { type ConformanceCase, conformanceGroups, outcomeOf } from "../test/http/conformance-cases.ts";
import { bunServe } from "./servers.ts";

/** How long to wait for an answer before a case counts as failed. Bun.serve never answers some requests. */
const answerMs = 3_000;

export async function conform(): Promise<void> {
  const server = await bunServe().start(0);
  const port = Number(new URL(server.url).port);
  const cases = Object.entries(conformanceGroups).flatMap(([group, cases]) =>
    cases.map((entry) => ({ ...entry, title: `${group}: ${entry.title}` })),
  );
  const tried = await Promise.all(cases.map((entry) => tryCase(port, entry)));
  const failures = tried.filter((failure) => failure !== undefined);
  console.log(`Bun.serve passes ${cases.length - failures.length} of ${cases.length} conformance cases`);
  for (const failure of failures) console.log(`  ${failure}`);
  await server.stop();
}

/** Returns what is wrong. Undefined if the case passes. */
async function tryCase(port: number, { title, request, outcome }: ConformanceCase): Promise<string | undefined> {
  const seen = await Promise.race([
    outcomeOf(port, request),
    Bun.sleep(answerMs).then(() => `no end within ${answerMs / 1_000} s`),
  ]);
  return seen === outcome ? undefined : `${title}: ${outcome} expected, got: ${seen}`;
}
