// A connection remembers the head of its last request. If the next head is the same, it is not parsed. If only the
// request line differs, the fields are not parsed. The result must be the same as if every head were parsed from
// scratch.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { RememberedHead } from "../../src/wire/remembered-head.ts";
import { parseHead } from "../../src/wire/request-head.ts";

const head = fc
  .record({
    method: fc.constantFrom("GET", "PUT", "CONNECT"),
    path: fc.constantFrom("/api/todoitems", "/api/todoitems/1", "/%"),
    version: fc.constantFrom("HTTP/1.1", "HTTP/1.0", "HTTP/2.0"),
    fields: fc.subarray(["Host: a", "Host: b", "Content-Length: 4", "Transfer-Encoding: chunked", "broken"]),
  })
  .map(({ method, path, version, fields }) => [`${method} ${path} ${version}`, ...fields].join("\r\n"));

function resultOf(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    return error;
  }
}

test("a head is read the same way, whichever heads the connection has read before", () => {
  fc.assert(
    fc.property(fc.array(head, { minLength: 2, maxLength: 8 }), (heads) => {
      const remembered = new RememberedHead();
      for (const text of heads) {
        expect(resultOf(() => remembered.parse(text))).toEqual(resultOf(() => parseHead(text)));
      }
    }),
    { numRuns: 500 },
  );
});
