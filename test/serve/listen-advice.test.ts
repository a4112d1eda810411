// What an operator reads if a port cannot be listened on.

import { expect, test } from "bun:test";
import { checkPortIsFree, ListenError, listenOrExplain } from "../../src/serve/listen-advice.ts";
import { listen } from "../../src/wire/listen.ts";
import { Answer, type Handler } from "../../src/wire/message.ts";
import { listenOptions } from "../http/listen-options.ts";

const handler: Handler = { handle: () => new Answer(204, {}), refuse: () => new Answer(400, {}) };

function start(host: string, port: number) {
  return listenOrExplain(host, port, "--port", () => listen(handler, { ...listenOptions, host, port }));
}

test("a port in use is named, with the flag that chooses another", async () => {
  const server = start("127.0.0.1", 0);
  const again = () => start("127.0.0.1", server.port);
  expect(again).toThrow(ListenError);
  expect(again).toThrow(`Port ${server.port} on 127.0.0.1 is in use by another program. Choose another with --port`);
  expect(() => checkPortIsFree("127.0.0.1", server.port, "--https-port")).toThrow("Choose another with --https-port");
  await server.stop(0);
  checkPortIsFree("127.0.0.1", server.port, "--port");
});

for (const host of ["192.0.2.1", "no-such-host.invalid", "999.1.1.1", "a b"]) {
  test(`the address ${host}, which this machine does not have, is named`, () => {
    const elsewhere = () => start(host, 0);
    expect(elsewhere).toThrow(ListenError);
    expect(elsewhere).toThrow(`${host} is not an address of this machine`);
  });
}
