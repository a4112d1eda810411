// Whatever the input is, the parser's work must grow with the length of the input, not with the square of the length. A
// regular expression that starts again at every character needs half a second for 16 KB. Parsing such input 100 times
// then takes far longer than the time limit, on any machine. Linear work takes some milliseconds.

import { expect, test } from "bun:test";
import { ChunkedFraming } from "../../src/wire/body-framing.ts";
import { Refusal } from "../../src/wire/refusal.ts";
import { parseHead } from "../../src/wire/request-head.ts";

const times = 100;
const limitMs = 10_000;
const length = 16_000;
const lineLength = 4_000;
const long = (text: string, count = length) => text.repeat(count / text.length);

const heads: Readonly<Record<string, string>> = {
  "a target in absolute form that ends in #": `GET http://${long("a")}# HTTP/1.1\r\nHost: a`,
  "a target of many ://": `GET http://${long("://")}# HTTP/1.1\r\nHost: a`,
  "a target of many question marks": `GET http://a${long("?")}# HTTP/1.1\r\nHost: a`,
  "a request line without a version": `GET ${long("a")}`,
  "a method without an end": long("A"),
  "a request line of blanks": `GET ${long(" ")}`,
  "a Host without an end": `GET / HTTP/1.1\r\nHost: ${long("a")}@`,
  "a Host of colons": `GET / HTTP/1.1\r\nHost: [${long(":")}`,
  "a field name without a colon": `GET / HTTP/1.1\r\n${long("a")}`,
  "a value of blanks before a control character": `GET / HTTP/1.1\r\nX: ${long(" ")}\x01`,
  "a Connection of commas, without a Host": `GET / HTTP/1.1\r\nConnection: ${long(",")}`,
  "a Content-Length of digits that ends in a letter": `GET / HTTP/1.1\r\nHost: a\r\nContent-Length: ${long("1")}a`,
};

const lines: Readonly<Record<string, string>> = {
  "a quoted extension without an end": `1;a="${long("b", lineLength)}`,
  "a quoted extension of backslashes": `1;a="${long("\\", lineLength)}`,
  "an extension of semicolons": `1${long(";a", lineLength)} `,
  "a chunk size of zeros": long("0", lineLength),
  "a trailer name without a colon": `0\r\n${long("a", lineLength)}`,
  "a trailer value before a control character": `0\r\nX:${long(" ", lineLength)}\x01`,
};

for (const [title, text] of Object.entries(heads)) {
  test(
    `${title} is refused in linear time`,
    () => {
      for (let time = 0; time < times; time++) expect(() => parseHead(text)).toThrow(Refusal);
    },
    limitMs,
  );
}

for (const [title, text] of Object.entries(lines)) {
  test(
    `${title} is refused in linear time`,
    () => {
      const bytes = Buffer.from(`${text}\r\n`, "latin1");
      for (let time = 0; time < times; time++) {
        expect(() => new ChunkedFraming().take(bytes, () => {})).toThrow(Refusal);
      }
    },
    limitMs,
  );
}
