// What HTTPS costs, and what a new connection costs. The service is compared with nginx, and with bare listeners of the
// runtime. These listeners show how much of the cost comes from the runtime itself.

import { run, runHttp2 } from "./load.ts";
import { type Scene, side } from "./scene.ts";
import { bareHttp2, floor, nginx, nginxWith, todoitems } from "./servers.ts";

const items = 100;
const https = { scheme: "https" } as const;

export const secureWork = {
  list: "list of 100 over HTTPS, HTTP/1.1",
  http2: "list of 100 over HTTP/2, 20 connections with 20 streams",
  handshakes: "TLS handshakes, each with a list of 100",
  connections: "new connections without TLS, each with a list of 100",
} as const;

export const overHttps: Scene = {
  title: "lists over HTTPS",
  async run({ seconds, results }) {
    await side(items, [todoitems(https), nginxWith("https"), floor(https)], async (server, { name }) => {
      await run(server, { connections: 64, seconds: 1 });
      results.add(secureWork.list, name, (await run(server, { connections: 64, seconds })).perSecond);
      const closing = { connections: 64, seconds, headers: ["Connection: close"] };
      results.add(secureWork.handshakes, name, (await run(server, closing)).perSecond);
    });
  },
};

export const overHttp2: Scene = {
  title: "lists over HTTP/2",
  async run({ seconds, results }) {
    await side(items, [todoitems(https), nginxWith("https"), bareHttp2], async (server, { name }) => {
      results.add(secureWork.http2, name, await runHttp2(server, seconds));
    });
  },
};

export const newConnections: Scene = {
  title: secureWork.connections,
  async run({ seconds, results }) {
    await side(items, [todoitems(), nginx, floor()], async (server, { name }) => {
      await run(server, { connections: 64, seconds: 1 });
      const closing = { connections: 64, seconds, headers: ["Connection: close"] };
      results.add(secureWork.connections, name, (await run(server, closing)).perSecond);
    });
  },
};
