// No regular expression of `src/` takes more than linear time, whatever it is fed. Each one is listed here with the
// inputs that would make it backtrack most. An expression that is missing from the list fails the test, so that its
// author thinks about its worst case. An expression with quadratic cost would need minutes for inputs as long as these,
// and run into the test runner's time-out.

import { describe, expect, test } from "bun:test";
import { checkMediaType } from "../../src/http/body.ts";
import { Compression } from "../../src/http/compression.ts";
import { ChunkedFraming } from "../../src/wire/body-framing.ts";
import { Answer } from "../../src/wire/message.ts";
import { readSources } from "./imports.ts";
import { regularExpressionsOf } from "./regular-expressions.ts";

const repeats = 400_000;

/** An input: what comes first, what is repeated, what comes last. */
type Attack = readonly [prefix: string, repeated: string, suffix: string];

const worstCases: Readonly<Record<string, readonly Attack[]>> = {
  // The following expressions read requests, and items.
  "/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/": [["", "a", " "]],
  "/^[\\x21-\\x7e]+$/": [["/", "a", " "]],
  "/^([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([^ ]+) HTTP\\/([0-9])\\.([0-9])$/": [
    ["", "a", ""],
    ["GET ", "a", ""],
    ["GET ", "/ HTTP/1.", ""],
    ["GET ", " ", ""],
  ],
  "/[\\x00-\\x08\\x0a-\\x1f\\x7f]/": [["", "a", ""]],
  "/^https?:\\/\\//i": [["http", "s", ""]],
  "/^[\\w.:~+/=@-]{1,128}$/": [["", "a", ""]],
  "/^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/": [
    ["00-", "0", ""],
    ["", "00-", ""],
  ],
  "/^(?:[0-9a-z._~!$&'()*+;=%-]+|\\[[0-9a-f:.]+\\])(?::[0-9]*)?$/i": [
    ["", "a", "/"],
    ["[", ":", "/"],
    ["a:", "0", "/"],
  ],
  "/^(?:null|[a-z][a-z0-9+.-]*:\\/\\/[a-z0-9._-]*(?:\\[[0-9a-f:]+\\])?(?::[0-9]+)?)$/": [
    ["", "a", ""],
    ["a://", "a", "/"],
    ["a://[", ":", "/"],
    ["a://:", "0", "/"],
  ],
  "/[/?]/": [["", "a", ""]],
  "/^(?!api$)[a-z0-9][a-z0-9._-]{0,63}$/i": [["", "a", ""]],
  "/\\/lists(?:\\/|$)/i": [["", "/lists", "a"]],
  "/\\/lists\\/[^/]+\\/$/i": [
    ["", "/lists/", "a"],
    ["", "/lists/a/", "b"],
    ["/lists/", "a", ""],
  ],
  "/(?:^|[^\\r])\\n/": [["", "\r\n", ""]],
  "/^[^!#$%&'*+.^_`|~0-9A-Za-z\\r-]/": [["", "a", ""]],
  '/^(?:W\\/(?="))?"?([0-9a-z]{1,64})-([0-9]{1,15})(?:-(?:camel|pascal))?(?:-read-only)?"?$/i': [
    ["", "W/", ""],
    ["", "a", ""],
    ["a-", "0", ""],
  ],
  "/\\.$/": [["", ".", "a"]],
  "/^\\[(.*)\\](?::[0-9]+)?$/": [
    ["[", "]", ""],
    ["[", "]:0", "a"],
  ],
  "/^([0-9.]+):[0-9]+$/": [
    ["", "0", ""],
    ["0:", "0", "a"],
  ],
  "/^::ffff:([0-9.]+)$/i": [["::ffff:", "0", "a"]],
  '/[ \\t]*(?:(W\\/)?("[^"]*")[ \\t]*)?(?:,|$)/gy': [
    ["", " ", ""],
    ['"a"', " ", "a"],
    ["", '"a",', '"'],
    ['"', "a", ""],
  ],
  '/(?:--?|;)(?:gzip|br|deflate|zstd)("?)$/': [
    ["", "-", ""],
    ["", ";gzip", ""],
  ],
  "/\\/$/": [["", "/", "a"]],
  "/^(?:localhost|127\\.[0-9.]+|\\[::1\\])$/": [["127.", "1.", "a"]],
  "/\\p{Cc}/u": [["", "a", ""]],
  "/^[\\x20-\\x7e]{1,255}$/": [["", "a", "ä"]],
  "/^[!-~]+$/": [["", "a", " "]],
  "/^bearer(?: |$)/i": [["bearer", " ", "a"]],
  "/^bearer +([\\w-]+\\.[\\w-]+\\.[\\w-]+) *$/i": [
    ["bearer", " ", ":"],
    ["bearer ", "a", ":"],
    ["bearer a.", "a", ":"],
    ["bearer a.a.", "a", ":"],
    ["bearer a.a.a", " ", ":"],
    ["bearer ", "a.", ":"],
  ],
  "/^basic +([A-Za-z0-9+/_-]+=*) *$/i": [
    ["basic", " ", ":"],
    ["basic ", "a", ":"],
    ["basic a", "=", ":"],
    ["basic a", " ", ":"],
  ],
  "/^[ \\t]*application\\/json[ \\t]*/i": [
    ["", " ", ""],
    ["application/json", " ", "a"],
  ],
  '/^"?utf-8"?$/i': [['"utf-8', '"', ""]],
  "/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i": [["", "a", ""]],
  "/-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y": [
    ["1", "0", "."],
    ["0.", "0", "e"],
    ["0e", "0", "."],
  ],
  "/true|false|null/y": [["", "t", ""]],
  '/\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})/y': [["\\u", "0", ""]],
  '/[^"\\\\\\u0000-\\u001f]*/y': [["", "a", "\n"]],
  "/^\\p{Lu}$/u": [["", "A", ""]],
  "/[\\p{Cc}\\u2028\\u2029]/gu": [["", "a", ""]],
  '/"(?:[^"\\\\]|\\\\.)*"?|\\{\\}|\\[\\]|[{}[\\],:]/g': [
    ['"', '\\"', ""],
    ['"', "a", ""],
    ["", "{", ""],
  ],
  // The following expressions run in clients. They read answers, addresses, generated IDs and errors.
  "/%(..)/g": [["", "%2", "%"]],
  "/^(https?:\\/\\/[^/?#@]+)(?=[/?#]|$)([^?#]*)/i": [
    ["http://", "a", "@"],
    ["http://", "/", "?"],
  ],
  "/\\s/g": [["", " ", "a"]],
  "/\\/api(?:\\/todoitems)?$/i": [
    ["", "/api", "a"],
    ["", "/api/todoitems", "a"],
  ],
  "/^(.{8})(.{4})(.{4})(.{4})/": [["", "a", ""]],
  "/CERT|ISSUER|SIGNED|SIGNATURE/": [["", "SIGN", ""]],
  "/^[\\p{L}\\p{N}_@%+=:,./-]+$/u": [["", "a", " "]],
  // The following expressions read the API's description, which is a file of the project.
  '/(?<=^|["/])(?:ID|Name|Notes|Done)(?=$|")/g': [["", '"ID', ""]],
  "/\\b(?:ID|Name|Notes|Done)\\b/g": [["", "ID ", ""]],
  "/^curl/gm": [["", "\n", "curl"]],
  '/(fetch\\("[^"]*")\\)/g': [["", "fetch", ""]],
  '/(new TodoClient\\("[^"]*")\\)/g': [["", 'new TodoClient("', ""]],
  '/"#\\/components\\/(\\w+)\\/([\\w-]+)"/g': [['"#/components/', "a", ""]],
  "/^[A-Za-z_/][A-Za-z0-9_/.{}$-]*$/": [["", "a", " "]],
  "/^(?:true|false|null|yes|no|on|off|y|n)$/i": [["", "n", ""]],
  "/^\\s|[^\\n\\x20-\\x7e]| \\n/": [["a", " ", ""]],
  "/\\n$/": [["", "\n", "a"]],
  // Most of the following expressions read what the operator or a user gives: files, settings, arguments, pasted text.
  "/^\\$2[aby]\\$([0-9]{2})\\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/": [["$2b$10$", "e", ""]],
  "/^\\$argon2id\\$v=19\\$m=([0-9]{1,7}),t=([0-9]{1,3}),p=([0-9]{1,3})\\$([A-Za-z0-9+/]{11,})\\$([A-Za-z0-9+/]{22,})$/":
    [
      ["$argon2id$v=19$m=1,t=1,p=1$", "a", ""],
      ["$argon2id$v=19$m=1,t=1,p=1$aaaaaaaaaaa$", "a", "!"],
    ],
  "/\\r?\\n/": [["", "\r", ""]],
  "/^\\[(.*)\\]$/": [["[", "]", "a"]],
  "/^[0-9a-z_]([0-9a-z_-]*[0-9a-z_])?(\\.[0-9a-z_]([0-9a-z_-]*[0-9a-z_])?)*$/i": [
    ["", "a", "!"],
    ["a", "-", "!"],
    ["a", ".a", "!"],
    ["a", "-a", "!"],
  ],
  "/^\\s*([-*•–]\\s+)?(\\[[ x]?\\]\\s+|[☐☑]\\s+)?/i": [
    ["", " ", ""],
    ["- ", " ", "["],
    ["[x]", " ", "-"],
  ],
  "/x|☑/i": [["", "a", ""]],
  '/new TodoClient\\("[^"]*"(?:, \\{ (\\w+) \\})?\\)/': [['new TodoClient("', "a", ""]],
  "/[_-]+/g": [["", "_", "a"]],
  "/(\\p{Ll}|\\d)(\\p{Lu})(?!\\p{Lu})/gu": [
    ["", "aA", "A"],
    ["a", "A", ""],
  ],
  "/^\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?(Z|[+-]\\d\\d:?\\d\\d)?)?$/": [
    ["2027-03-01T10:20:30.", "0", "x"],
  ],
  "/^(\\d{4}-\\d\\d-\\d\\d)(T00:00(?::00(?:\\.0+)?)?(?:Z|[+-]\\d\\d:?\\d\\d)?)?$/": [
    ["2027-03-01T00:00:00.", "0", "x"],
  ],
  "/\\b(date|day|due|deadline)\\b/i": [["", "date", "x"]],
  "/^[-\\d]/": [["", "0", ""]],
  "/^[[{]/": [["", "[", ""]],
  "/^-?(0|[1-9]\\d*)(\\.\\d+)?(e[+-]?\\d+)?$/i": [
    ["1", "0", "x"],
    ["1.", "0", "x"],
    ["1e", "0", "x"],
  ],
  "/^[0-9]+$/": [["", "0", "a"]],
  "/^[0-9]+(?:\\/|$)/": [["", "0", "a"]],
  "/^([0-9]+)(?:\\/s)?$/": [["", "0", "a"]],
  "/^([0-9]+) ?([a-z]*)$/i": [
    ["", "0", "!"],
    ["0", "a", "!"],
  ],
  "/[^A-Za-z0-9.-]/g": [["", "a", ""]],
  "/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/": [["", "a", "\n"]],
  "/^#|[:\\p{Cc}]/u": [["", "a", ""]],
  "/^(.+?)(:?=)(.*)$/s": [
    ["", "a", ""],
    ["", ":", ""],
  ],
  "/[\\p{Cc}\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\u2028\\u2029]/gu": [["", "a", ""]],
  "/^[a-z]+:\\/\\//i": [["", "a", ""]],
  "/^[A-Z][A-Z0-9_]+$/": [["", "A", "!"]],
  "/^postgres(?:ql)?:\\/\\/(?:([^:@/?]*)(?::([^@/?]*))?@)?([^/?]*)(?:\\/([^?]*))?(?:\\?(.*))?$/": [
    ["postgres://", "a:", "?\n"],
    ["postgres://", "@", "?\n"],
    ["postgres://a/", "/", "?\n"],
    ["postgres://a?", "?", "\n"],
  ],
  "/^(?:\\[([0-9a-f:.]+)\\]|([^:[\\]]+))(?::([0-9]{1,5}))?$/i": [
    ["[", ":", "!"],
    ["", "a", "["],
  ],
  "/^postgres(?:ql)?:/": [["postgres", "ql", ""]],
  "/^([^:]*:\\/\\/[^:@/]*):.*@/s": [
    ["", "://:", ""],
    ["a://", "a", ""],
  ],
  "/^[=+\\-@\\t\\r]/": [["", "=", ""]],
  "/\\s+/": [
    ["", " ", ""],
    ["", "a ", ""],
  ],
  "/\\p{M}/gu": [
    ["", "a", ""],
    ["", "\u0301", ""],
  ],
  "/\\.(\\w+)$/": [
    [".", "a", "!"],
    ["", ".a", "!"],
  ],
  "/^-+/": [["", "-", ""]],
  "/^(?:sqlite|memory|postgres|postgresql):/": [["", "postgresql", ""]],
  "/^(?:localhost|127(?:\\.[0-9]+){3}|\\[::1\\])$/": [
    ["127.", "0", "!"],
    ["127", ".0", "!"],
  ],
  "/[?#]/": [["", "a", ""]],
  "/^lists\\/(?!api\\/?$)[a-z0-9][\\w.-]{0,63}(\\/?)$/i": [["lists/", "a", "!"]],
  '/"(?:\\.\\.\\/)*(assets\\/[^"]+)"/g': [
    ['"', "../", ""],
    ["", '"../', ""],
    ['"assets/', "a", ""],
  ],
  "/^[^[]*[a-z]/i": [["", "1", ""]],
  "/(^|\\.)localhost\\.?$/": [["", ".localhost", "!"]],
};

/** Expressions that are put together from parts are tested through the function that uses them. */
const worstCalls: Readonly<Record<string, () => void>> = {
  'new RegExp(`;[ \\\\t]*(?:(${token})=(${token}|${quoted}))?[ \\\\t]*`, "giy");': () => {
    for (const [repeated, suffix] of [
      [";", "!"],
      [" ", "!"],
      [';a="', ""],
      ['\\"', ""],
    ] as const)
      expect(() => checkMediaType(`application/json;a="${repeated.repeat(repeats)}${suffix}`)).toThrow();
    expect(() => checkMediaType(`application/json${"; ".repeat(repeats)}!`)).toThrow();
  },
  'new RegExp(`(?:^|,)[ \\\\t]*${coding}[ \\\\t]*(?:;[ \\\\t]*q=([^ \\\\t,;]*)[ \\\\t]*)?(?:,|$)`, "i");': () => {
    const list = new Answer(200, {}, "x".repeat(1_000));
    for (const [prefix, repeated] of [
      ["", " "],
      ["", ", "],
      ["", ",gzip x"],
      ["gzip", " "],
      ["gzip;", " "],
      ["gzip;q=", "1"],
      ["gzip;q=1", " "],
    ] as const) {
      const accepted = `${prefix}${repeated.repeat(repeats)};`;
      expect(new Compression().apply(new Map([["accept-encoding", accepted]]), list)).toBeInstanceOf(Answer);
    }
  },
  "new RegExp(`^([0-9A-Fa-f]{1,13})(?:;${token}(?:=(?:${token}|${quoted}))?)*$`);": () => {
    for (const line of [`1${";a".repeat(2_000)}@`, `1;${"a".repeat(4_000)}@`, `1;a="${'\\"'.repeat(2_000)}`])
      expect(() => new ChunkedFraming().take(Buffer.from(`${line}\r\n`), () => {})).toThrow();
  },
  "new RegExp(`^(${token}):[\\\\t\\\\x20-\\\\x7e\\\\x80-\\\\xff]*$`);": () => {
    for (const line of [`${"a".repeat(4_000)}`, `a:${" ".repeat(4_000)}\x01`])
      expect(() => new ChunkedFraming().take(Buffer.from(`0\r\n${line}\r\n`), () => {})).toThrow();
  },
};

const used = new Map<string, string>();
for (const [path, source] of readSources())
  for (const { text, line } of regularExpressionsOf(source)) used.set(text, `${path}:${line}`);

test("every regular expression of src/ is known here, and every one known here is used", () => {
  const known = new Set([...Object.keys(worstCases), ...Object.keys(worstCalls)]);
  expect([...used].filter(([text]) => !known.has(text)).map(([text, place]) => `${place} ${text}`)).toEqual([]);
  expect([...known].filter((text) => !used.has(text))).toEqual([]);
});

describe("the worst case does not stop", () => {
  for (const [text, attacks] of Object.entries(worstCases)) {
    test(text, () => {
      const end = text.lastIndexOf("/");
      const expression = new RegExp(text.slice(1, end), text.slice(end + 1));
      for (const [prefix, repeated, suffix] of attacks) {
        const input = prefix + repeated.repeat(repeats) + suffix;
        expect(input.replace(expression, "")).toBeString();
      }
    });
  }
  for (const [text, call] of Object.entries(worstCalls)) test(text, call);
});

test("the search finds expressions between strings, templates, comments and divisions", () => {
  const source = [
    'const a = "/no/"; // /no/',
    "const b = `/no/$" + '{c.replace(/yes/g, "")}/no/`;',
    "x = 4 / 2 / 1; /* /no/ */ y(/also[/]/);",
  ].join("\n");
  expect(regularExpressionsOf(source).map(({ text }) => text)).toEqual(["/yes/g", "/also[/]/"]);
});
