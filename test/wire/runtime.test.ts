// Behaviour of Bun that src/wire relies on, although Bun's documentation does not promise it. If one of these tests
// fails after an upgrade of Bun, its title says which part of the service would break.

import "reflect-metadata";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { developmentCertificate } from "../../src/credentials/development-certificate.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";

let folder: ReturnType<typeof temporaryFolder>;
let certificate: { readonly cert: string; readonly key: string };

beforeAll(async () => {
  folder = temporaryFolder();
  const { cert, key } = await developmentCertificate(join(folder.path, "https"));
  certificate = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
});
afterAll(() => folder.dispose());

/** Accepts connections in clear text, starts TLS on each, and echoes whatever it receives over TLS. */
function listenInClearText() {
  return Bun.listen<undefined>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        // `isServer` is not in the declared type. A variable avoids the compiler's check for unknown properties.
        const options = {
          data: undefined,
          tls: { ...certificate, ALPNProtocols: Buffer.from("\x08http/1.1", "latin1") },
          isServer: true,
          socket: {
            open() {},
            data: (secure: Bun.Socket<undefined>, bytes: Buffer) => void secure.write(bytes),
          },
        };
        socket.upgradeTLS<undefined>(options);
      },
      data() {},
    },
  });
}

/**
 * A script for Node. It connects, connects again with the same TLS session, and prints whether the server resumed that
 * session.
 */
const reconnect = `
  const { connect } = require("node:tls");
  const options = { host: "127.0.0.1", port: Number(process.argv[1]), rejectUnauthorized: false };
  const first = connect(options, () => first.write("hello"));
  first.once("session", (session) => {
    first.destroy();
    const second = connect({ ...options, session }, () => {
      console.log(second.isSessionReused());
      second.destroy();
    });
  });
`;

const once = <Value>(subscribe: (resolve: (value: Value) => void) => unknown) =>
  new Promise<Value>((resolve) => void subscribe(resolve));

test("HTTPS needs this: upgradeTLS({ isServer }) turns an accepted socket into a TLS server that chooses a protocol by ALPN", async () => {
  const listener = listenInClearText();
  const ALPNProtocols = ["h2", "http/1.1"];
  const options = { host: "127.0.0.1", port: listener.port, rejectUnauthorized: false, ALPNProtocols };
  const client = connectTls(options);
  await once((resolve) => client.once("secureConnect", resolve));
  expect(client.alpnProtocol).toBe("http/1.1");
  client.write("hello");
  expect(String(await once((resolve) => client.once("data", resolve)))).toBe("hello");
  client.destroy();
  listener.stop(true);
});

test("resumed TLS sessions need this: upgradeTLS({ isServer }) keeps its TLS context between connections", async () => {
  const listener = listenInClearText();
  const client = Bun.spawn(["node", "--eval", reconnect, String(listener.port)], { stdout: "pipe" });
  expect(await new Response(client.stdout).text()).toBe("true\n");
  listener.stop(true);
});

test("answers that leave together need this: setImmediate runs after all sockets of a turn have been read, and before any socket of the next turn is read", async () => {
  const order: string[] = [];
  let accepted = 0;
  const allAccepted = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const listener = Bun.listen<undefined>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open() {
        if (++accepted === 3) allAccepted.resolve();
      },
      data(_socket, bytes) {
        order.push(String(bytes));
        if (order.length === 1) {
          setImmediate(() => order.push("end of turn"));
          next.write("next turn");
        }
        if (String(bytes) === "next turn") done.resolve();
      },
    },
  });
  const open = () => Bun.connect({ hostname: "127.0.0.1", port: listener.port, socket: { data() {} } });
  const [one, other, next] = await Promise.all([open(), open(), open()]);
  await allAccepted.promise;
  one.write("this turn");
  other.write("this turn");
  await done.promise;
  expect(order).toEqual(["this turn", "this turn", "end of turn", "next turn"]);
  for (const socket of [one, other, next]) socket.end();
  listener.stop(true);
});
