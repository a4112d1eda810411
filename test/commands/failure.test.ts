// What the commands say about failures that are hard to produce with real servers.

import { expect, test } from "bun:test";
import { HttpError, noAnswer } from "../../src/client/errors.ts";
import { describeFailure, explain } from "../../src/commands/failure.ts";

test("a certificate for another host name is not called untrusted, because --ca would not help", () => {
  const cause = Object.assign(new Error("Hostname/IP does not match"), { code: "ERR_TLS_CERT_ALTNAME_INVALID" });
  const error = noAnswer({ method: "GET", url: "https://127.0.0.1:5001/api/todoitems/" }, cause);
  expect(explain(error)).toBe(
    "The certificate of https://127.0.0.1:5001/ is for another host name. Use a name that the certificate contains, with --server.",
  );
});

test.each([
  ["CERT_HAS_EXPIRED", "has expired. Renew it on that server, and check the clock of this machine."],
  ["CERT_NOT_YET_VALID", "is not valid yet. Check the clocks of both machines."],
])("a certificate with the error %s is not called untrusted, because --ca would not help", (code, message) => {
  const cause = Object.assign(new Error("wrong time"), { code });
  const error = noAnswer({ method: "GET", url: "https://127.0.0.1:5001/api/todoitems/" }, cause);
  expect(explain(error)).toBe(`The certificate of https://127.0.0.1:5001/ ${message}`);
});

test("if nothing answers at an http address without a port, the message asks for the usual port", () => {
  const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  const said = (url: string) => explain(noAnswer({ method: "GET", url: `${url}api/todoitems/` }, cause));
  for (const server of ["http://localhost", "http://127.0.0.1", "http://[::1]", "http://todo.example"])
    expect(said(`${server}/`)).toBe(
      `Nothing answers at ${server}/, which is port 80. Did you mean --server ${server}:5000/?`,
    );
  expect(said("https://localhost/")).toContain("Start the service with todoitems serve --https-port 443");
  expect(said("http://localhost:5100/")).toContain("Start the service with todoitems serve --port 5100");
});

test("if another program answers on port 80 of this machine, the message asks for the usual port", () => {
  const nothing = { status: 404, code: undefined, detail: "", retryAfterMs: undefined };
  const said = (url: string) => explain(new HttpError({ method: "GET", url: `${url}api/todoitems/` }, nothing));
  expect(said("http://localhost/")).toBe(
    "The answer from http://localhost/ is not that of a to-do service. Did you mean --server http://localhost:5000/?",
  );
  expect(said("http://todo.example/")).toEndWith("Check the address, or give another one with --server URL.");
});

test("if a proxy does not reach the service, the message says so, and does not blame the address", () => {
  for (const status of [502, 503, 504]) {
    const refusal = { status, code: undefined, detail: "", retryAfterMs: undefined };
    for (const path of ["api/todoitems/", "api/todoitems/3f2a", "changes/events", "changes/delta?since=1"])
      expect(
        describeFailure(new HttpError({ method: "GET", url: `https://todo.example/todo/${path}` }, refusal)),
      ).toEqual({
        message: `https://todo.example/todo/ answers with ${status}: the service behind this address cannot be reached. Check that it is running, or try again later.`,
        exitCode: 3,
      });
  }
  const refusal = { status: 404, code: undefined, detail: "", retryAfterMs: undefined };
  expect(
    explain(new HttpError({ method: "GET", url: "https://todo.example/todo/api/todoitems/" }, refusal)),
  ).toStartWith("The answer from https://todo.example/todo/ is not that of a to-do service.");
});
