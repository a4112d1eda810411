// Tests the header `Prefer: return=minimal` (RFC 7240).

import { expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { ids, item, Service } from "../service.ts";

const create = async (prefer: string) => {
  const service = await Service.on(new MemoryEngine());
  const answer = await service.send("POST", "/api/todoitems/", item(ids.one), { Prefer: prefer });
  expect(answer.status).toBe(201);
  expect(answer.headers.get("location")).toBe(`/api/todoitems/${ids.one}`);
  expect(answer.headers.get("etag")).toBeString();
  expect(await service.list()).toBe(`[${item(ids.one)}]`);
  return answer;
};

for (const prefer of ["return=minimal", 'wait=5, Return = "minimal"; foo', "return=minimal, return=representation"]) {
  test(`a create with Prefer: ${prefer} is answered without a body`, async () => {
    const answer = await create(prefer);
    expect(answer.headers.get("preference-applied")).toBe("return=minimal");
    expect(answer.headers.get("content-type")).toBeNull();
    expect(await answer.text()).toBe("");
  });
}

for (const prefer of ["return=representation", "return=representation, return=minimal", "respond-async", ""]) {
  test(`a create with Prefer: ${prefer} is answered with the item`, async () => {
    const answer = await create(prefer);
    expect(answer.headers.has("preference-applied")).toBe(false);
    expect(await answer.text()).toBe(item(ids.one));
  });
}
