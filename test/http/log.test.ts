import { expect, test } from "bun:test";
import { createLog, describeError } from "../../src/http/log.ts";

test("a logged event is one line, whatever its message contains", () => {
  const lines: string[] = [];
  createLog("text", (line) => lines.push(line))("warn", "first\nsecond\u001b[31m\r", { a: 1 });
  expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z warn {2}first\\nsecond\\u001b\[31m\\u000d$/);
});

test("a logged event in JSON has its fields beside the message, and no control characters", () => {
  const lines: string[] = [];
  const message = "a\nb\u007f\u0080\u009b31m\u009f\u2028";
  createLog("json", (line) => lines.push(line))("info", message, { status: 200, origin: "\u0085" });
  expect(lines[0]).toMatch(/^[ -~]+$/);
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    ...{ time: expect.any(String), level: "info", message, status: 200, origin: "\u0085" },
  });
});

test("an error is described with its stack and its cause", () => {
  const text = describeError(new Error("outer", { cause: new TypeError("inner") }));
  expect(text).toContain("outer");
  expect(text).toContain("caused by TypeError: inner");
});
