// No test bypasses the check of answers against the API's description. The services that `Service`, `Program` and the
// simulation start check their own answers. Tests that ask another server, or an installed program, use `checkedFetch`.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../program.ts";

/** The files below `test/` that call `fetch` itself, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  "client/claims.ts":
    "It also runs in Node and Chromium. The service checks its answers; odd-server.ts errs on purpose.",
  "client/live-list.test.ts": "It asks a server that is not ours, and counts the requests.",
  "client/recipes.test.ts": "It declares the fetch of another package.",
  "client/reduced-context.ts": "It runs where only the client is installed. The service checks its answers.",
  "description/checked-answer.ts": "It is the check.",
  "faults/hostile-proxy.ts": "It is a proxy. The service behind it checks its answers.",
  "house/checked-answers.test.ts": "It has examples of what it looks for.",
  "http/real-provider.test.ts": "It asks an identity provider for tokens.",
  "linearizability/history.ts": "It notes when each answer arrives. The services check their answers.",
  "page/list-page.test.ts": "It is a proxy. The service behind it checks its answers.",
  "page/page-under-path.test.ts": "It is a proxy, and asks that proxy. The service behind it checks its answers.",
  "page/screenshots.ts": "It is run by hand, and takes pictures.",
  "page/service-worker.test.ts": "It is a proxy that others answer, too. The service behind it checks its answers.",
  "proxies/proxies.ts": "It asks proxies, under another path. The services behind them check their answers.",
  "tools/prism-proxy.long.test.ts":
    "It asks Prism, which changes the answers. The service behind it checks its answers.",
  "tools/specification-through-prism.ts": "It asks Prism for its complaints. The app checks its answers.",
};

const call = /(?<![.#\w])fetch\(|\bglobalThis\.fetch\b/;
const definition = /^\s*(?:(?:override )?(?:async )?fetch\([^()]*\)(?:: .*)? \{|abstract fetch\(.*;)$/;

function callsFetch(text: string): boolean {
  return text.split("\n").some((line) => call.test(line) && !definition.test(line));
}

/** How many apps in the text do not check their answers. */
function plainApps(text: string): number {
  return text.split(/\bnew App\(/).length - text.split(/\bcheckAnswers\(\s*new App\(/).length;
}

const files = [...new Bun.Glob("**/*.ts").scanSync(join(projectFolder, "test"))]
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => !/^tools\/(?:node_modules|generated)\//.test(path));
const textOf = (path: string) => readFileSync(join(projectFolder, "test", path), "utf8");

test("only the files in the list above call fetch without a check of the answer", () => {
  expect(files.filter((path) => callsFetch(textOf(path))).sort()).toEqual(Object.keys(exceptions));
});

test("every app that a test creates checks its answers", () => {
  const others = files.filter((path) => path !== "house/checked-answers.test.ts");
  expect(others.filter((path) => plainApps(textOf(path)) > 0)).toEqual([]);
});

test("the checks find a call of fetch and a plain app, and nothing else", () => {
  for (const text of ["await fetch(url);", "  return fetch(`/x`, {", "const get = globalThis.fetch;"])
    expect([text, callsFetch(text)]).toEqual([text, true]);
  for (const text of [
    "await service.fetch(url)",
    "checkedFetch(url)",
    "    fetch(request) {",
    "  override fetch(a: string) {",
    "  abstract fetch(a: string): Promise<Response>;",
    "  async fetch(a: string): Promise<Response> {",
  ])
    expect([text, callsFetch(text)]).toEqual([text, false]);
  expect([plainApps("x = new App(y)"), plainApps("checkAnswers(\n  new App(y))")]).toEqual([1, 0]);
});
