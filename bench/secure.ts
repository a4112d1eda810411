// What HTTPS and new connections cost. The service is compared with nginx, and with bare listeners of the
// runtime. These listeners show how much of the cost comes from the runtime itself.

import { type Load, run } from "./load.ts";
import { alternate, type Scene, turnSeconds } from "./scene.ts";
import { floor, nginx, nginxWith, type Server, todoitems } from "./servers.ts";

const items = 100;
const https = { scheme: "https" } as const;

export const secureWork = {
  list: "list of 100 over HTTPS",
  handshakes: "TLS handshakes, each with a list of 100",
  connections: "new connections without TLS, each with a list of 100",
} as const;

const load: Load = { connections: 64, seconds: turnSeconds };
const closing: Load = { ...load, headers: ["Connection: close"] };
const warmUp = (server: Server) => run(server, load);

export const overHttps: Scene = {
  title: "lists over HTTPS",
  async run({ results }) {
    await alternate(items, [todoitems(https), nginxWith("https"), floor(https)], warmUp, async (server, { name }) => {
      results.add(secureWork.list, name, (await run(server, load)).perSecond);
      results.add(secureWork.handshakes, name, (await run(server, closing)).perSecond);
    });
  },
};

export const newConnections: Scene = {
  title: secureWork.connections,
  async run({ results }) {
    await alternate(items, [todoitems(), nginx, floor()], warmUp, async (server, { name }) => {
      results.add(secureWork.connections, name, (await run(server, closing)).perSecond);
    });
  },
};
