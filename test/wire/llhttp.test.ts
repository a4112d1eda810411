// Whatever our connection accepts, llhttp (Node's parser) must accept and read the same way: method, target, header
// fields, body, and where the next request begins. The only exceptions are the `allowedDifferences`. The part "fuzz
// streams" of `npm run torture` compares random messages.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readStreams } from "../fuzz/corpus.ts";
import { type allowedDifferences, compare, describeFinding, Oracle } from "./llhttp-comparison.ts";

const next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";

/** For each allowed difference, a stream that we read to its end. Without help, llhttp would stop earlier. */
const allowedStreams: Record<keyof typeof allowedDifferences, string> = {
  "unknown method": `FROBNICATE / HTTP/1.1\r\nHost: a\r\n\r\n${next}`,
  "ignored upgrade": `GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n${next}`,
};

let oracle: Oracle;
beforeAll(() => {
  oracle = new Oracle();
});
afterAll(() => oracle.stop());

describe("llhttp and our parser", () => {
  for (const { title, text } of readStreams()) {
    test(`llhttp agrees with us on a past finding: ${title}`, async () => {
      const everywhere = Array.from({ length: Math.min(text.length - 1, 1_000) }, (_, index) => index + 1);
      const streams = [true, false].flatMap((readsBodies) =>
        [[], everywhere].map((cuts) => ({ text, cuts, readsBodies })),
      );
      expect((await compare(oracle, streams)).map(describeFinding)).toEqual([]);
    });
  }

  for (const name of Object.keys(allowedStreams) as (keyof typeof allowedStreams)[]) {
    test(`we accept more than llhttp in a case that our contract requires: ${name}`, async () => {
      const text = allowedStreams[name];
      let accepted = 0;
      const stream = { text, cuts: [], readsBodies: true };
      expect(await compare(oracle, [stream], (requests) => (accepted = requests))).toEqual([]);
      oracle.ask([text]);
      expect([accepted, (await oracle.answer()).allowed]).toEqual([2, [name]]);
    });
  }
});
