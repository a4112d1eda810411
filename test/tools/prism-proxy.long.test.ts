// A Prism proxy stands between a client and the service, and has no complaint about the answers.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { Program } from "../program.ts";
import { ids, item } from "../service.ts";
import { type Prism, startPrism, type Violation, violationsIn } from "./prism.ts";
import { generatedFolder } from "./tool.ts";

let program: Program;
let prism: Prism;

beforeAll(async () => {
  program = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
  await Bun.write(join(generatedFolder, "served.json"), await (await program.fetch("/openapi.json")).text());
  prism = await startPrism("generated/served.json", program.origin);
});

afterAll(() => Promise.all([prism.stop(), program.stop()]));

async function send(
  method: string,
  path: string,
  body?: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; etag: string; violations: readonly Violation[] }> {
  const json: Record<string, string> = body === undefined ? {} : { "Content-Type": "application/json" };
  const init = { method, headers: { ...json, ...headers }, ...(body === undefined ? {} : { body }) };
  const answer = await fetch(`${prism.origin}${path}`, init);
  await answer.arrayBuffer();
  const { status, headers: answered } = answer;
  return { status, etag: answered.get("etag") ?? "", violations: violationsIn(answered) };
}

const collection = "/api/todoitems";
const one = `${collection}/${ids.one}`;

test("Prism has no complaint about any operation of the specification, in both forms", async () => {
  const expectClean = async (status: number, ...request: Parameters<typeof send>) => {
    const answer = await send(...request);
    expect({ request, ...answer }).toMatchObject({ status, violations: [] });
    return answer;
  };
  await expectClean(200, "GET", collection);
  const { etag } = await expectClean(201, "POST", collection, item(ids.one, '"Name":null,"Extra":[1]'));
  await expectClean(201, "POST", collection, '{"Name":"without an ID"}');
  await expectClean(201, "POST", `${collection}/${ids.two}`, item(ids.two));
  await expectClean(409, "POST", collection, item(ids.one));
  await expectClean(200, "GET", collection);
  await expectClean(200, "GET", one);
  await expectClean(304, "GET", one, undefined, { "If-None-Match": etag });
  await expectClean(204, "PUT", collection, item(ids.one));
  await expectClean(204, "PUT", one, item(ids.one));
  await expectClean(412, "PUT", one, item(ids.one), { "If-Match": etag });
  await expectClean(404, "PUT", collection, item(ids.three));
  await expectClean(400, "PUT", one, item(ids.two));
  await expectClean(200, "GET", `/changes/delta?since=${etag.replaceAll('"', "")}`);
  await expectClean(204, "DELETE", one);
  await expectClean(404, "DELETE", one);
  await expectClean(204, "DELETE", `${collection}/${ids.two}`, item(ids.two));
  await expectClean(200, "GET", "/health/live");
  await expectClean(200, "GET", "/health/ready");
});

test("Prism has no complaint about the answer to a request that the service refuses", async () => {
  const requests: [status: number, ...Parameters<typeof send>][] = [
    [400, "POST", collection, "[]"],
    [400, "POST", collection, '{"ID":"1"}'],
    [400, "PUT", collection, '{"Name":"x"}'],
    [400, "GET", `${collection}/1`],
    [400, "DELETE", `${collection}/1`],
    [415, "POST", collection, "{}", { "Content-Type": "text/plain" }],
    [404, "GET", "/nowhere"],
    [405, "PATCH", collection],
    [405, "DELETE", collection],
  ];
  for (const [status, ...request] of requests) {
    const answer = await send(...request);
    expect({ request, status: answer.status }).toEqual({ request, status });
    for (const { location, message } of answer.violations) expect([location[0], message]).toEqual(["request", message]);
  }
});

// The service accepts other spellings of its paths. OpenAPI cannot say that the case of letters does not matter. It
// could list `/api` as a path of its own, but then every generated client would have each operation twice. So
// openapi.yaml describes the other spellings in prose.
test("other spellings of a path are served, and Prism does not know them", async () => {
  for (const path of ["/api", "/API/TodoItems", `${collection}/`]) {
    const { status, violations } = await send("GET", path);
    expect([path, status]).toEqual([path, 200]);
    expect(violations.length).toBeGreaterThan(0);
  }
});
