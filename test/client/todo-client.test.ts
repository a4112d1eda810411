// The parts of the client that can be tested without a network.

import { afterEach, describe, expect, test } from "bun:test";
import { isTodoError, jsonText, TodoClient } from "../../src/client/index.ts";
import { idOf, newId, sameContent } from "../../src/client/item-text.ts";
import { nestingDepthMax } from "../../src/items/todo-item.ts";
import { closeAll, setGlobal } from "./opened-service.ts";

afterEach(closeAll);

/** Reads an endless list, generated as it is read. `pulls` counts the chunks that were requested. */
function readEndlessList() {
  let pulls = 0;
  const item = new TextEncoder().encode(`{"ID":"00000000-0000-4000-8000-000000000000","Notes":"${"x".repeat(950)}"},`);
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(pulls++ === 0 ? new TextEncoder().encode("[") : item);
    },
  });
  const todo = new TodoClient("http://unused.example", { fetch: async () => new Response(body) });
  return { items: todo.items(), pulls: () => pulls };
}

describe("items()", () => {
  test("items() does not read far ahead of its caller", async () => {
    const { items, pulls } = readEndlessList();
    for (let count = 1; count <= 100; count++) {
      await items.next();
      expect(pulls()).toBeLessThanOrEqual(count + 3);
    }
    await items.return();
  });

  test("items() does not keep the items that it has yielded", async () => {
    const { items, pulls } = readEndlessList();
    const heapMiB = () => {
      Bun.gc(true);
      return process.memoryUsage().heapUsed / 1024 ** 2;
    };
    for (let count = 0; count < 5_000; count++) await items.next();
    const before = heapMiB();
    for (let count = 0; count < 100_000; count++) await items.next();
    expect(pulls()).toBeGreaterThan(105_000);
    // A hundred megabytes have been read by now.
    expect(heapMiB() - before).toBeLessThan(10);
    await items.return();
  });
});

describe("a token", () => {
  /** Accepts one token, and counts the requests. */
  function server(accepted: string) {
    const sent: (string | null)[] = [];
    const fetch = async (_url: string, { headers }: RequestInit) => {
      sent.push(new Headers(headers).get("authorization"));
      return sent.at(-1) === `Bearer ${accepted}` ? Response.json([]) : new Response("", { status: 401 });
    };
    return { sent, fetch };
  }

  test("is asked for before each request, and once more if it is refused", async () => {
    const { sent, fetch } = server("new");
    const tokens = ["old", "new", "new"];
    const todo = new TodoClient("http://unused.example", { fetch, token: async () => tokens.shift() ?? "none" });
    expect(await todo.list()).toEqual([]);
    expect(await todo.list()).toEqual([]);
    expect(sent).toEqual(["Bearer old", "Bearer new", "Bearer new"]);
  });

  test("that is refused twice is an error", async () => {
    const { sent, fetch } = server("new");
    const todo = new TodoClient("http://unused.example", { fetch, token: () => "old", retry: { limit: 0 } });
    await expect(todo.list()).rejects.toMatchObject({ status: 401, hadCredentials: true });
    expect(sent).toEqual(["Bearer old", "Bearer old"]);
  });

  test("that never comes is waited for, but not for ever, and no longer than the caller wants", async () => {
    const token = () => new Promise<string>(() => {});
    const fetch = async () => new Response("[]");
    const todo = new TodoClient("http://localhost/", { token, fetch, timeoutMs: 10, retry: { limit: 0 } });
    await expect(todo.list()).rejects.toMatchObject({ name: "NetworkError" });
    const patient = new TodoClient("http://localhost/", { token, fetch });
    const call = patient.list({ signal: AbortSignal.timeout(10) });
    await expect(call).rejects.toMatchObject({ name: "TimeoutError" });
    expect(await call.catch(isTodoError)).toBe(false);
  });

  test("is not asked for twice if there is none", async () => {
    const { sent, fetch } = server("new");
    const todo = new TodoClient("http://unused.example", { fetch, retry: { limit: 0 } });
    await expect(todo.list()).rejects.toMatchObject({ status: 401 });
    expect(sent).toHaveLength(1);
  });
});

describe("addresses", () => {
  test.each(["", "/", "/api", "/api/todoitems", "/api/todoitems/"])("the address may end with %p", (suffix) => {
    expect(new TodoClient(`http://server.example/base${suffix}`).url).toBe("http://server.example/base/api/todoitems/");
  });

  test.each(["ftp://server.example/", "http://ann@server.example/", "http://ann:secret@server.example/"])(
    "the address %p is refused",
    (address) => expect(() => new TodoClient(address)).toThrow("not the address of a service"),
  );

  // Deno has a global `location` that is undefined.
  for (const location of [undefined, new URL("http://page.example/list/")]) {
    test(`an absolute address always works, a relative one only in a page (the global location is ${location})`, () => {
      setGlobal("location", location);
      expect(new TodoClient("http://server.example/").url).toBe("http://server.example/api/todoitems/");
      if (location === undefined) expect(() => new TodoClient("/")).toThrow(TypeError);
      else expect(new TodoClient("/").url).toBe("http://page.example/api/todoitems/");
    });
  }
});

test("an item that is nested as deeply as the service allows is read from a list and from a refusal", async () => {
  const id = "00000000-0000-4000-8000-000000000000";
  const deepest = `{"ID":"${id}","Deep":${"[".repeat(nestingDepthMax - 1)}${"]".repeat(nestingDepthMax - 1)}}`;
  const headers = { "Content-Type": "application/problem+json" };
  const fetch = async (_url: string, { method }: RequestInit) =>
    method === "GET" ? new Response(`[${deepest}]`) : new Response(`{"current":${deepest}}`, { status: 412, headers });
  const todo = new TodoClient("http://unused.example", { codec: jsonText, fetch });
  expect(await todo.list()).toEqual([deepest]);
  await expect(todo.update(deepest, { ifMatch: '"other"' })).rejects.toMatchObject({ current: deepest });
});

test.each([null, undefined])(
  "a response whose body is %p, as some versions of Expo have it, is read as text",
  async (body) => {
    const item = { ID: "00000000-0000-4000-8000-000000000000", Name: "One" };
    const response = Object.defineProperty(new Response(JSON.stringify([item])), "body", { value: body });
    const todo = new TodoClient("http://unused.example", { fetch: async () => response });
    expect(await todo.list()).toEqual([item]);
  },
);

describe("item texts", () => {
  test("two items have the same content if only the order of fields or the letter case of top-level names differs", () => {
    const one = '{"ID":"ABCDEF01-2345-4789-abcd-ef0123456789","Name":"x","More":{"A":[1,2.0,"\\u00e4"]}}';
    expect(sameContent(one, '{"more":{"A":[1,2.0,"ä"]},"id":"abcdef01-2345-4789-abcd-ef0123456789","name":"x"}')).toBe(
      true,
    );
    expect(sameContent('{"a":[{"b":1,"c":{"d":2,"e":3}}]}', '{"a":[{"c":{"e":3,"d":2},"b":1}]}')).toBe(true);
    for (const other of [
      '{"ID":"ABCDEF01-2345-4789-abcd-ef0123456789","Name":"X","More":{"A":[1,2.0,"ä"]}}',
      '{"ID":"ABCDEF01-2345-4789-abcd-ef0123456789","Name":"x","More":{"A":[1,2,"ä"]}}',
      '{"ID":"ABCDEF01-2345-4789-abcd-ef0123456789","Name":"x","More":{"A":[2.0,1,"ä"]}}',
      '{"ID":"ABCDEF01-2345-4789-abcd-ef0123456789","Name":"x","More":{"a":[1,2]}}',
      '{"ID":"ABCDEF01-2345-4789-abcd-ef0123456789","Name":"x"}',
      '{"ID":"ABCDEF01-2345-4789-abcd-ef0123456789","Name":"x","More":{"A":[1,2]},"B":1}',
    ])
      expect(sameContent(one, other)).toBe(false);
  });

  test("a new ID is random and has the format of the specification", () => {
    const ids = Array.from({ length: 100 }, newId);
    expect(new Set(ids).size).toBe(100);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe("mistakes of the caller", () => {
  test("an ID that is not a UUID is sent as it is, so that the server refuses it and nothing is stored", async () => {
    const sent: unknown[] = [];
    const refusing = new TodoClient("http://unused.example", {
      codec: jsonText,
      fetch: async (_, { body }) => {
        sent.push(body);
        return new Response("{}", { status: 400 });
      },
    });
    await expect(refusing.create('{"ID":7}')).rejects.toThrow();
    expect(sent).toEqual(['{"ID":7}']);
  });

  /** The options of a client that must not send anything. */
  const unsent = {
    codec: jsonText,
    fetch: () => Promise.reject(new Error("a request was sent")),
  };
  const todo = new TodoClient("http://unused.example", unsent);

  test("an update of an item without an ID throws a TypeError", async () => {
    const plain = new TodoClient<{ Name: string }>("http://unused.example");
    await expect(plain.update({ Name: "x" })).rejects.toThrow(new TypeError("An item to be updated needs its ID."));
  });

  test("credentials that HTTP Basic cannot carry throw a TypeError", async () => {
    const credentials = { username: "a:b", password: "c" };
    const list = new TodoClient("http://unused.example", { credentials }).list();
    await expect(list).rejects.toThrow(TypeError);
    await expect(list).rejects.toThrow("colon");
  });

  const mistakes: Readonly<Record<string, string>> = {
    "": "found the end",
    "[]": "A TodoItem is a JSON object",
    '"x"': "A TodoItem is a JSON object",
    '{"ID":': "line 1, column 7",
    '{"ID":"x",}': "line 1, column 11",
    '{"ID":"x"} {}': "line 1, column 12",
    [`{"a":${"[".repeat(2_000)}`]: "deeper than 1000 levels",
  };
  for (const [text, message] of Object.entries(mistakes)) {
    test(`the text ${text.slice(0, 20) || "(empty)"} as an item throws a TypeError that says what is wrong`, async () => {
      for (const call of [todo.create(text), todo.update(text)]) {
        const error: unknown = await call.then(
          () => undefined,
          (reason: unknown) => reason,
        );
        // The error must not have the name of an internal class, such as ItemError.
        expect(error).toHaveProperty("name", "TypeError");
        expect(error).toHaveProperty("message", expect.stringContaining(message));
      }
      for (const read of [idOf, jsonText.parse]) {
        expect(() => read(text)).toThrow(TypeError);
        expect(() => read(text)).toThrow(message);
      }
    });
  }

  test("a value that JSON.stringify cannot turn into text throws a TypeError", async () => {
    const any = new TodoClient<unknown>("http://unused.example", { fetch: unsent.fetch });
    for (const value of [undefined, 1n]) await expect(any.update(value)).rejects.toThrow(TypeError);
  });
});

describe("answers that cannot be read", () => {
  test("of an error page in another encoding the status counts, so a proxy's 503 is tried again", async () => {
    const statuses = [503, 404];
    const fetch = async () =>
      new Response(Buffer.from("<p>D\xe9sol\xe9", "latin1"), { status: statuses.shift() ?? 500 });
    const todo = new TodoClient("http://localhost/", { fetch, retry: { delayMs: 1 } });
    expect(await todo.list().catch((error: unknown) => error)).toMatchObject({ name: "HttpError", status: 404 });
    expect(statuses).toEqual([]);
  });

  const id = "00000000-0000-4000-8000-000000000000";
  const item = `{"ID":"${id}"}`;

  /** A client whose server answers every request with this text: a create with status 409, anything else with 200. */
  function conflicting(text: string): TodoClient<string> {
    return new TodoClient("http://unused.example", {
      codec: jsonText,
      retry: { limit: 1, delayMs: 1 },
      fetch: async (_url, { method }) => new Response(text, { status: method === "POST" ? 409 : 200 }),
    });
  }

  for (const text of ["", "[]", '{"ID":', "<html>"]) {
    test(`an answer with ${text || "an empty text"} as the item throws an InvalidResponseError`, async () => {
      await expect(conflicting(text).get(id)).rejects.toHaveProperty("name", "InvalidResponseError");
      // If the client generated the ID itself, it reads the stored item after a 409 answer.
      await expect(conflicting(text).create("{}")).rejects.toHaveProperty("name", "InvalidResponseError");
    });
  }

  test("the error for an answer that is not an item names the mistake once", async () => {
    await expect(conflicting("[]").get(id)).rejects.toHaveProperty(
      "message",
      expect.stringMatching(/^GET \S+: the response cannot be used: A TodoItem is a JSON object[^()]*$/),
    );
  });

  test("an unreadable answer to a create does not hide that the item was created", async () => {
    const fetch = async () => new Response("<html>", { status: 201 });
    const todo = new TodoClient("http://unused.example", { codec: jsonText, fetch });
    expect(await todo.create(item)).toMatchObject({ id, item });
  });
});
