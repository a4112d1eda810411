import { expect, test } from "bun:test";
import type { AuthMode } from "../../src/http/access.ts";
import { type BlackBoxOptions, describeBlackBox, type StartBlackBox } from "../black-box.ts";
import { expectProblem, type ItemRequests, ids, item } from "../service.ts";

// The weakest hash keeps the tests fast. These tests are not about the cost of a hash.
const hash = (password: string) => Bun.password.hashSync(password, { algorithm: "bcrypt", cost: 4 });
const users = new Map([
  ["ann", hash("secret")],
  ["Zoë", hash("pä:ss:wörd")],
]);

const basic = (name: string, password: string) => ({
  Authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`,
});

function startWith(start: StartBlackBox, auth: AuthMode, options: BlackBoxOptions = {}): Promise<ItemRequests> {
  return start({ auth, users, ...options });
}

/** Tries each operation with these headers, and returns the status of each. */
async function tryAll(service: ItemRequests, headers: Record<string, string>): Promise<Record<string, number>> {
  const list = await service.fetch("GET", "/api/todoitems/", { headers });
  const create = await service.send("POST", "/api/todoitems/", item(ids.one), headers);
  const read = await service.fetch("GET", `/api/todoitems/${ids.one}`, { headers });
  const update = await service.send("PUT", "/api/todoitems/", item(ids.one), headers);
  const remove = await service.fetch("DELETE", `/api/todoitems/${ids.one}`, { headers });
  return { list: list.status, create: create.status, read: read.status, update: update.status, remove: remove.status };
}

const open = { list: 200, create: 201, read: 200, update: 204, remove: 204 };

describeBlackBox("Authentication", (start) => {
  test("1. the service uses HTTP Basic: missing or wrong credentials get 401 with the challenge", async () => {
    const service = await startWith(start, "all");
    const response = await service.fetch("GET", "/api/todoitems/");
    expect(response.headers.get("www-authenticate")).toBe('Basic realm="todoitems", charset="UTF-8"');
    await expectProblem(response, 401, "CredentialsRequired");
    expect(await tryAll(service, {})).toEqual({ list: 401, create: 401, read: 401, update: 401, remove: 401 });
  });

  test("2. by default no operation requires credentials, and credentials that are sent are ignored", async () => {
    const service = await startWith(start, "off");
    for (const headers of [{}, basic("anyone", "anything"), { Authorization: "nonsense" }]) {
      expect(await tryAll(service, headers)).toEqual(open);
    }
  });

  test("2. with `writes`, create, update and delete require credentials, but list and read do not", async () => {
    const service = await startWith(start, "writes", { items: [item(ids.one)] });
    expect(await tryAll(service, {})).toEqual({ list: 200, create: 401, read: 200, update: 401, remove: 401 });
    await service.fetch("DELETE", `/api/todoitems/${ids.one}`, { headers: basic("ann", "secret") });
    expect(await tryAll(service, basic("ann", "secret"))).toEqual(open);
  });

  test("2. with `all`, every operation requires credentials, and correct ones allow every operation", async () => {
    const service = await startWith(start, "all");
    expect(await tryAll(service, basic("ann", "secret"))).toEqual(open);
  });

  test("2. an unknown user and a wrong password get the same answer", async () => {
    const service = await startWith(start, "all");
    const answers = await Promise.all(
      [basic("ann", "wrong"), basic("nobody", "secret")].map(async (headers) => {
        const response = await service.fetch("GET", "/api/todoitems/", { headers });
        response.headers.delete("date");
        return { status: response.status, headers: [...response.headers], body: await response.text() };
      }),
    );
    expect(answers[0]?.status).toBe(401);
    expect(answers[0]).toEqual(answers[1] ?? answers[0]);
  });

  test("3. names and passwords are UTF-8, and a password may contain colons", async () => {
    const service = await startWith(start, "all");
    expect(await tryAll(service, basic("Zoë", "pä:ss:wörd"))).toEqual(open);
    const { Authorization } = basic("ann", "secret");
    expect(await tryAll(service, { Authorization: Authorization.replace("Basic", "bAsIc  ") })).toEqual(open);
  });

  for (const authorization of [
    "Basic",
    "Basic ",
    "Basic !!!",
    `Basic ${btoa("ann")}`,
    `Bearer ${btoa("ann:secret")}`,
    btoa("ann:secret"),
    `Basic ${btoa("\xff:x")}`,
    `Basic ${btoa("Ann:secret")}`,
    `Basic ${btoa("ann:secret ")}`,
    `Basic ${btoa(":")}`,
  ]) {
    test(`3. the Authorization ${JSON.stringify(authorization)} gets 401`, async () => {
      const service = await startWith(start, "all");
      const headers = { Authorization: authorization };
      await expectProblem(await service.fetch("GET", "/api/todoitems/", { headers }), 401, "CredentialsRequired");
    });
  }

  test("credentials are checked after route and method, and before everything else", async () => {
    const service = await startWith(start, "all");
    await expectProblem(await service.fetch("GET", "/nowhere"), 404, "RouteNotFound");
    await expectProblem(await service.fetch("PATCH", "/api/todoitems/"), 405, "MethodNotAllowed");
    await expectProblem(
      await service.send("PUT", "/api/todoitems/bad", "{", { "Content-Type": "text/plain" }),
      401,
      "CredentialsRequired",
    );
  });
});
