// What the client does inside, where that can be seen best without a network.

import { describe, expect, test } from "bun:test";
import { TodoClient } from "../../src/client/index.ts";
import { newId, sameContent } from "../../src/client/item-text.ts";

/** A list of many items, made as it is read; says how many chunks were asked for. */
function endlessList() {
  let pulls = 0;
  const item = new TextEncoder().encode(`{"ID":"00000000-0000-4000-8000-000000000000","Notes":"${"x".repeat(950)}"},`);
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(pulls++ === 0 ? new TextEncoder().encode("[") : item);
    },
  });
  return { response: new Response(body), pulls: () => pulls };
}

describe("items()", () => {
  test("reads no further ahead than its reader, so memory stays flat", async () => {
    const { response, pulls } = endlessList();
    const items = new TodoClient("http://unused.example", { fetch: async () => response }).items();
    for (let count = 1; count <= 100; count++) {
      await items.next();
      expect(pulls()).toBeLessThanOrEqual(count + 3);
    }
    await items.return();
  });

  test("keeps nothing of what it handed out", async () => {
    const { response, pulls } = endlessList();
    const items = new TodoClient("http://unused.example", { fetch: async () => response }).items();
    const heapMiB = () => {
      Bun.gc(true);
      return process.memoryUsage().heapUsed / 1024 ** 2;
    };
    for (let count = 0; count < 5_000; count++) await items.next();
    const before = heapMiB();
    for (let count = 0; count < 100_000; count++) await items.next();
    expect(pulls()).toBeGreaterThan(105_000);
    // A hundred megabytes have passed through.
    expect(heapMiB() - before).toBeLessThan(10);
    await items.return();
  });
});

describe("an address", () => {
  // Deno has the name, and no page behind it.
  for (const location of [undefined, "http://page.example/list/"]) {
    test(`is taken as it is where the page is at ${location}`, () => {
      const before = Object.getOwnPropertyDescriptor(globalThis, "location");
      Object.defineProperty(globalThis, "location", { value: location, configurable: true });
      try {
        expect(new TodoClient("http://server.example/").url).toBe("http://server.example/api/todoitems/");
        if (location === undefined) expect(() => new TodoClient("/")).toThrow(TypeError);
        else expect(new TodoClient("/").url).toBe("http://page.example/api/todoitems/");
      } finally {
        if (before) Object.defineProperty(globalThis, "location", before);
        else Reflect.deleteProperty(globalThis, "location");
      }
    });
  }
});

describe("an item's text", () => {
  test("says the same in another order of fields and another letter case of top-level names", () => {
    const one = '{"ID":"ABCDEF01-2345-4789-abcd-ef0123456789","Name":"x","More":{"A":[1,2.0]}}';
    expect(sameContent(one, '{"more":{"A":[1,2]},"id":"abcdef01-2345-4789-abcd-ef0123456789","name":"x"}')).toBe(true);
    for (const other of [
      '{"ID":"ABCDEF01-2345-4789-abcd-ef0123456789","Name":"X","More":{"A":[1,2]}}',
      '{"ID":"ABCDEF01-2345-4789-abcd-ef0123456789","Name":"x","More":{"A":[2,1]}}',
      '{"ID":"ABCDEF01-2345-4789-abcd-ef0123456789","Name":"x","More":{"a":[1,2]}}',
      '{"ID":"ABCDEF01-2345-4789-abcd-ef0123456789","Name":"x"}',
      '{"ID":"ABCDEF01-2345-4789-abcd-ef0123456789","Name":"x","More":{"A":[1,2]},"B":1}',
    ])
      expect(sameContent(one, other)).toBe(false);
  });

  test("gets random IDs of the shape the specification asks for", () => {
    const ids = Array.from({ length: 100 }, newId);
    expect(new Set(ids).size).toBe(100);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe("TodoClient", () => {
  test("an item without an ID cannot be updated", async () => {
    const todo = new TodoClient<{ Name: string }>("http://unused.example");
    await expect(todo.update({ Name: "x" })).rejects.toThrow("needs its ID");
  });

  test("sends no credentials that HTTP Basic cannot carry", async () => {
    const credentials = { username: "a:b", password: "c" };
    await expect(new TodoClient("http://unused.example", { credentials }).list()).rejects.toThrow("colon");
  });
});
