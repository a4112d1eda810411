// Tests the start-up text: which addresses it shows, and what it says about access.

import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { greeting, readyLine } from "../../src/serve/greeting.ts";
import type { Listener } from "../../src/serve/servers.ts";
import { readSettings } from "../../src/serve/settings.ts";

// The tests may run in a terminal.
process.env["FORCE_COLOR"] = "0";

function greet(args: readonly string[], columns?: number, itemCount = 1): string {
  const result = readSettings(["--store", "memory:", ...args], {});
  if ("problems" in result) throw new Error(result.problems.join("\n"));
  const { host, port, httpsPort } = result.settings;
  const listeners: Listener[] = [
    ...(port === undefined ? [] : [{ scheme: "http", host, port } as const]),
    ...(httpsPort === undefined ? [] : [{ scheme: "https", host, port: httpsPort } as const]),
  ];
  return greeting(result.settings, { listeners, itemCount }, columns);
}

/** Returns the lines of the row with this label, without the label. */
function row(text: string, label: string): string[] {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.startsWith(`  ${label} `));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("   "));
  return start === -1 ? [] : lines.slice(start, end).map((line) => line.replace(`  ${label} `, "").trim());
}

test("by default, the page, this machine and an Android emulator have addresses, and the network has none", () => {
  const text = greet([]);
  expect(row(text, "Page")).toEqual(["http://localhost:5000/"]);
  expect(row(text, "Local")).toEqual(["http://localhost:5000/api/todoitems/"]);
  expect(row(text, "Emulator")).toEqual(["http://10.0.2.2:5000/api/todoitems/"]);
  expect(row(text, "Network")).toEqual(["not reachable: a phone needs --host 0.0.0.0"]);
});

test("every address is shown with each scheme that is served, and with no other", () => {
  const both = greet(["--https-port", "5001"]);
  expect(row(both, "Local")).toEqual(["http://localhost:5000/api/todoitems/", "https://localhost:5001/api/todoitems/"]);
  expect(row(both, "Emulator")).toEqual([
    "http://10.0.2.2:5000/api/todoitems/",
    "https://10.0.2.2:5001/api/todoitems/",
  ]);
  const secure = greet(["--port", "off", "--https-port", "5001", "--host", "0.0.0.0"]);
  expect(row(secure, "Page")).toEqual(["https://localhost:5001/"]);
  expect(secure).not.toContain("http://");
});

test("the store is shown with its full path, and a path stays on one line if it fits", () => {
  expect(row(greet(["--store", "sqlite:todo.db"]), "Store")).toEqual([`SQLite file ${resolve("todo.db")}, 1 item`]);
  const long = `/srv/${"x".repeat(35)}.db`;
  expect(row(greet(["--store", `sqlite:${long}`], 60), "Store")).toEqual(["SQLite file", `${long},`, "1 item"]);
});

test("in a narrow terminal, a long text goes on below itself, beside its label", () => {
  const text = greet([], 60);
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(60);
  expect(row(text, "CORS")).toEqual(["off: a web page of another origin needs", "--cors ORIGIN"]);
});

for (const [host, address] of [
  ["localhost", "localhost"],
  ["192.168.1.20", "192.168.1.20"],
  ["0.0.0.0", "127.0.0.1"],
  ["::", "[::1]"],
] as const) {
  test(`the ready line of a listener on ${host} names an address that every program can call`, () => {
    expect(readyLine({ scheme: "http", host, port: 5000 })).toBe(`todoitems is ready on http://${address}:5000/`);
  });
}

for (const host of ["0.0.0.0", "::"]) {
  test(`with --host ${host}, the addresses of this machine are shown, never ${host} itself`, () => {
    const text = greet(["--host", host]);
    expect(row(text, "Local")).toEqual(["http://localhost:5000/api/todoitems/"]);
    expect(row(text, "Emulator")).toEqual(["http://10.0.2.2:5000/api/todoitems/"]);
    for (const address of row(text, "Network"))
      expect(address).toMatch(/^http:\/\/[1-9][0-9.]+:5000\/api\/todoitems\/$/);
    expect(text).not.toContain(`//${host}`);
    expect(text).not.toContain(`[${host}]`);
  });
}

test("with an address of the network, only that address is shown", () => {
  const text = greet(["--host", "192.168.1.20"]);
  expect(row(text, "Page")).toEqual(["http://192.168.1.20:5000/"]);
  expect(row(text, "Network")).toEqual(["http://192.168.1.20:5000/api/todoitems/"]);
  expect([...row(text, "Local"), ...row(text, "Emulator")]).toEqual([]);
});

test("an IPv6 address is in brackets, and an emulator cannot reach ::1", () => {
  const text = greet(["--host", "::1"]);
  expect(row(text, "Local")).toEqual(["http://[::1]:5000/api/todoitems/"]);
  expect(row(text, "Emulator")).toEqual([]);
});

for (const [args, expected] of [
  [[], "none: anybody on this machine may write"],
  [["--host", "0.0.0.0"], "none: anybody on this network may write; --auth writes asks for a password"],
  [["--host", "0.0.0.0", "--read-only"], "none: anybody on this network may read"],
  [["--auth", "writes", "--users", "u"], "needed to create, update and delete; anybody may read"],
  [["--auth", "all", "--users", "u"], "needed for every request"],
] as const) {
  test(`with ${args.join(" ") || "no flags"}, the row Credentials says: ${expected}`, () => {
    expect(row(greet(args), "Credentials")).toEqual([expected]);
  });
}

for (const [args, expected] of [
  [[], "off: a web page of another origin needs --cors ORIGIN"],
  [["--cors", "*"], "web pages of every origin may use the service"],
  [["--cors", "https://a.example,http://localhost:8100"], "https://a.example, http://localhost:8100"],
] as const) {
  test(`with ${args.join(" ") || "no flags"}, the row CORS says: ${expected}`, () => {
    expect(row(greet(args), "CORS")).toEqual([expected]);
  });
}

test("users of the tutorial's apps are told about --field-names camel, unless it is set", () => {
  const need = "the tutorial's apps (.NET MAUI, Xamarin) need --field-names camel";
  expect(row(greet([]), "Tutorial")).toEqual([need]);
  expect(row(greet(["--field-names", "pascal"]), "Tutorial")).toEqual([need]);
  expect(greet(["--field-names", "camel"])).not.toContain("need --field-names");
});

test("colours change nothing but the colour", () => {
  const args = ["--host", "0.0.0.0"];
  process.env["FORCE_COLOR"] = "1";
  const coloured = greet(args);
  process.env["FORCE_COLOR"] = "0";
  expect(coloured).toContain("\u001b[36mhttp://localhost:5000/\u001b[39m");
  expect(Bun.stripANSI(coloured)).toBe(greet(args));
});

test("a large number of items is shown with separators, as other commands show it", () => {
  expect(row(greet([], undefined, 29_257), "Store")).toEqual(["memory, forgotten at exit, 29,257 items"]);
});
