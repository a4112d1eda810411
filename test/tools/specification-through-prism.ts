// Runs the specification's tests once more, with a Prism proxy that sees every request and every answer. A test fails
// if Prism has a complaint that argued-complaints.ts does not argue away.
//
// Prism reads JSON and writes it again, so `1.0` would become `1`, and it refuses what it cannot read. But the tests
// are about exact bytes. So the app gets each request directly, and Prism gets a copy of the request afterwards. Prism
// passes the copy on to a server in this file, which repeats the app's answer.

import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { completeDescription } from "../../src/description/api-description.ts";
import { matchRoute } from "../../src/http/routes.ts";
import { listen } from "../../src/wire/listen.ts";
import type { Answer } from "../../src/wire/message.ts";
import { requestOf, sendThrough } from "../app-fetch.ts";
import { listenOptions } from "../http/listen-options.ts";
import { rootListOnly } from "../root-list-only.ts";
import { argued, isArgued } from "./argued-complaints.ts";
import { startPrism, violationsIn } from "./prism.ts";
import { generatedFolder } from "./tool.ts";

/** The app's answers, by the number that each request carries through Prism. */
const answers = new Map<string, { readonly answer: Answer; isAskedFor: boolean }>();
const numberHeader = "x-request-number";
let requestCount = 0;

const server = listen(
  {
    handle({ headers, path }) {
      const known = answers.get(headers.get(numberHeader) ?? "");
      if (!known) throw new Error(`Prism sent a request of its own: ${path}`);
      known.isAskedFor = true;
      return known.answer;
    },
    refuse(refusal) {
      throw refusal;
    },
  },
  listenOptions,
);
await Bun.write(join(generatedFolder, "every-instance.json"), JSON.stringify(completeDescription));
const prism = await startPrism("generated/every-instance.json", `http://127.0.0.1:${server.port}`);
afterAll(() => Promise.all([prism.stop(), server.stop(0)]));

sendThrough(async (app, request, peer) => {
  const { method, url } = request;
  const body = request.clone().arrayBuffer();
  const answer = await app.handle(requestOf(request, peer));
  const { status } = answer;
  const complaints = await complaintsAbout(request, await body, answer);
  const open = complaints.filter((text) => !isArgued({ text, request, status }));
  expect({ method, url, status, open }).toMatchObject({ open: [] });
  return answer;
});

async function complaintsAbout(request: Request, body: ArrayBuffer, answer: Answer): Promise<string[]> {
  const number = String(++requestCount);
  const entry = { answer, isAskedFor: false };
  answers.set(number, entry);
  const { pathname, search } = new URL(request.url);
  const headers = new Headers(request.headers);
  headers.set(numberHeader, number);
  // Node closes a connection that was idle for 5 s. On a busy machine, a request may be on its way at that moment.
  const init = { method: request.method, headers, keepalive: false, ...(body.byteLength === 0 ? {} : { body }) };
  const passedOn = await fetch(`${prism.origin}${describedPath(pathname)}${search}`, init);
  const text = await passedOn.text();
  answers.delete(number);
  if (!entry.isAskedFor) return [`not passed on: ${text}`];
  const found = violationsIn(passedOn.headers).map(({ location, message }) => `${location.join(".")}: ${message}`);
  if (passedOn.status !== answer.status) found.push(`not passed back: ${text}`);
  return found;
}

/**
 * The path as the description spells it. The service accepts more spellings, which are described in prose. If they were
 * described as paths, every generated client would have each operation twice. prism-proxy.ts shows what Prism says of
 * them.
 */
function describedPath(path: string): string {
  const route = matchRoute(path, "one");
  if (route?.resource === "collection") return "/api/todoitems";
  return route?.resource === "item" ? `/api/todoitems/${encodeURIComponent(route.segment)}` : path;
}

// One list is enough here: the others answer as this one does.
process.env[rootListOnly] = "yes";

// The model tests send random requests, many of which Prism cannot read.
for (const file of new Bun.Glob("!(model|lists-model).test.ts").scanSync(join(import.meta.dir, "../specification")))
  await import(`../specification/${file}`);

test("every argument against a complaint is still needed", () => {
  expect(argued.filter(({ uses }) => uses === 0).map(({ because }) => because)).toEqual([]);
});
