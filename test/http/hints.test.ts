import { expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Access } from "../../src/http/access.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import { ids, item, Service, type ServiceOptions } from "../service.ts";

const start = (options: ServiceOptions = {}) => Service.on(new MemoryEngine(), options);
const messages = ({ log }: Service) => log.map(({ message }) => message);
const auth = () => new Access({ mode: "writes", auth: new BasicAuth(new Map()) });
const camel = `{"id":"${ids.two}","name":"Buy milk"}`;
const spelling =
  '127.0.0.1 has stored an item with the field "id", and the list has items with "ID". Apps that know one spelling show the other items as empty rows. To send one spelling to all apps, start the service with --field-names camel (id, name) or --field-names pascal (ID, Name)';

test("a 401 is logged once for each address, with the flag that helps", async () => {
  const service = await start({ access: auth() });
  for (const address of ["127.0.0.1", "127.0.0.1", "192.0.2.1"]) {
    service.address = address;
    expect((await service.send("POST", "/api/todoitems/", item(ids.one))).status).toBe(401);
  }
  const hint = (address: string) =>
    `${address} has sent no user name and password, or wrong ones, and got 401, which some apps do not show. Let the app send them, or let it do without: --auth writes lets anybody read, --auth off lets anybody write`;
  expect(messages(service)).toEqual([hint("127.0.0.1"), hint("192.0.2.1")]);
});

for (const [forms, method, path] of [
  ["a", "POST", "/api/todoitems/"],
  ["b", "PUT", `/api/todoitems/${ids.one}`],
] as const) {
  test(`a 405 because of --forms ${forms} is logged, and one that has another cause is not`, async () => {
    const service = await start({ forms });
    await service.send("PATCH", path, item(ids.one));
    await service.send("DELETE", "/api/todoitems/", "");
    expect(messages(service)).toEqual([]);
    for (let count = 0; count < 2; count++) expect((await service.send(method, path, item(ids.one))).status).toBe(405);
    expect(messages(service)).toEqual([
      `127.0.0.1 has sent ${method} ${path} and got 405, because of --forms ${forms}. Some apps do not show that. To offer both URL forms, start the service with --forms both`,
    ]);
  });
}

for (const [what, store] of [
  ["a create", (service: Service) => service.create(camel)],
  ["an update", (service: Service) => service.send("PUT", "/api/todoitems/", camel)],
] as const) {
  test(`${what} that brings a second spelling of ID into the list is logged`, async () => {
    const service = await start();
    await service.create(item(ids.one));
    if (what === "an update") await service.create(item(ids.two));
    expect(messages(service)).toEqual([]);
    await store(service);
    await service.create('{"name":"Another"}');
    expect(messages(service)).toEqual([spelling]);
  });
}

test("the spelling of items that were there before the start counts", async () => {
  const engine = new MemoryEngine();
  await (await Service.on(engine)).create(item(ids.one));
  const service = await Service.on(engine);
  await service.create(camel);
  expect(messages(service)).toEqual([spelling]);
});

test("nothing is logged if the answers have one spelling anyway, or if the item is not kept or is alone", async () => {
  for (const options of [{ fieldNames: "camel" }, { readOnly: true }] as const) {
    const service = await start(options);
    await service.create(item(ids.one));
    await service.create(camel);
    expect(messages(service)).toEqual([]);
  }
  const service = await start();
  await service.create(item(ids.one));
  await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
  await service.create(camel);
  expect(messages(service)).toEqual([]);
});

test("hints are logged for 100 addresses only, so that nobody can fill the log", async () => {
  const service = await start({ access: auth() });
  for (let count = 0; count < 150; count++) {
    service.address = `192.0.2.${count}`;
    await service.send("POST", "/api/todoitems/", item(ids.one));
  }
  expect(service.log).toHaveLength(100);
});
