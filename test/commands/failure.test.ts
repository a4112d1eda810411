// What the commands say about failures that are hard to produce with real servers.

import { expect, test } from "bun:test";
import { noAnswer } from "../../src/client/errors.ts";
import { explain } from "../../src/commands/failure.ts";

test("a certificate for another host name is not called untrusted, because --ca would not help", () => {
  const cause = Object.assign(new Error("Hostname/IP does not match"), { code: "ERR_TLS_CERT_ALTNAME_INVALID" });
  const error = noAnswer({ method: "GET", url: "https://127.0.0.1:5001/api/todoitems/" }, cause);
  expect(explain(error)).toBe(
    "The certificate of https://127.0.0.1:5001/ is for another host name. Use a name that the certificate contains, with --server.",
  );
});
