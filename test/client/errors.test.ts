// A program that imports the client and also requires it has two copies of its errors.

import { expect, test } from "bun:test";
import { HttpError, isPassing, isTodoError, NetworkError, reasonOf } from "../../src/client/errors.ts";

// The question mark makes the runtime load the file again. The name is a variable, because the type checker does not
// know it.
const again = "../../src/client/errors.ts?again";
const copy: typeof import("../../src/client/errors.ts") = await import(again);
const request = { method: "GET", url: "http://localhost/" };
const reply = { status: 503, code: undefined, detail: "", retryAfterMs: 5, hadCredentials: false };

test("the errors of another copy of the client are recognised", () => {
  const lost = new copy.NetworkError(request, "no answer");
  expect(lost).not.toBeInstanceOf(NetworkError);
  expect([isTodoError(lost), isTodoError(lost, "NetworkError"), isPassing(lost)]).toEqual([true, true, true]);
  const silent = new copy.TimeoutError(request, "no sign");
  expect([isTodoError(silent, "TimeoutError"), isPassing(silent)]).toEqual([true, true]);
  const refused = new copy.HttpError(request, reply);
  expect(refused).not.toBeInstanceOf(HttpError);
  expect([isTodoError(refused, "HttpError"), isPassing(refused)]).toEqual([true, true]);
});

test("what only looks like an error of the client is not one", () => {
  for (const other of [undefined, null, "NetworkError", new Request(request.url), new TypeError("fetch failed")])
    expect([isTodoError(other), isTodoError(other, "NetworkError")]).toEqual([false, false]);
});

test("the reason of an error includes its cause, also if both were made outside the context, as in Jest", () => {
  const outer = Object.create(null, {
    message: { value: "fetch failed" },
    cause: { value: { message: "connect ECONNREFUSED" } },
  });
  expect(reasonOf(outer)).toBe("fetch failed (connect ECONNREFUSED)");
  expect(reasonOf(new Error("fetch failed"))).toBe("fetch failed");
  expect(reasonOf("no")).toBe("no");
});
