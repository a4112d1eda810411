// Tests the errors that an operator sees if the service cannot listen on a port.

import { expect, test } from "bun:test";
import { FixableError } from "../../src/serve/fixable-error.ts";
import { checkPortsAreFree, listenOrExplain } from "../../src/serve/listen-advice.ts";
import { readSettings } from "../../src/serve/settings.ts";
import { listen } from "../../src/wire/listen.ts";
import { Answer, type Handler } from "../../src/wire/message.ts";
import { listenOptions } from "../http/listen-options.ts";

const handler: Handler = { handle: () => new Answer(204, {}), refuse: () => new Answer(400, {}) };

function start(host: string, port: number) {
  return startOn([host], port);
}

function startOn(addresses: readonly string[], port: number) {
  return listenOrExplain(port, "--port", () => listen(handler, { ...listenOptions, addresses, port }));
}

test("if a port is in use, the error names it and the flag that sets another", async () => {
  const server = start("127.0.0.1", 0);
  const again = () => start("127.0.0.1", server.port);
  expect(again).toThrow(FixableError);
  expect(again).toThrow(
    `Port ${server.port} on 127.0.0.1 is in use by another program, or by todoitems itself. Choose another`,
  );
  const result = readSettings(["--host", "127.0.0.1", "--port", "0", "--https-port", String(server.port)], {});
  if ("problems" in result) throw new Error(result.problems.join());
  expect(() => checkPortsAreFree(result.settings)).toThrow("Choose another with --https-port");
  await server.stop(0);
  checkPortsAreFree(result.settings);
});

test.skipIf(process.platform !== "linux")(
  "if a port is in use on one of two addresses, the error names that address, and the other one is free again",
  async () => {
    const taken = start("127.0.0.2", 0);
    const both = ["127.0.0.1", "127.0.0.2"];
    expect(() => startOn(both, taken.port)).toThrow(
      `Port ${taken.port} on 127.0.0.2 is in use by another program, or by todoitems itself.`,
    );
    await start("127.0.0.1", taken.port).stop(0);
    await taken.stop(0);
  },
);

for (const host of ["192.0.2.1", "no-such-host.invalid", "999.1.1.1", "a b"]) {
  test(`if this machine does not have the address ${host}, the error names it`, () => {
    const elsewhere = () => start(host, 0);
    expect(elsewhere).toThrow(FixableError);
    expect(elsewhere).toThrow(`${host} is not an address of this machine`);
  });
}
