// A server that fails in the ways in which networks and servers fail. The first segment of the path selects the
// behaviour. The second segment gives each test a state of its own.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The server's state for one test. */
interface Session {
  readonly released: PromiseWithResolvers<void>;
  requests: number;
  cut: boolean;
}

type Handler = (session: Session, request: IncomingMessage, response: ServerResponse, path: string) => unknown;

const itemOf = (number: number) => `{"ID":"00000000-0000-4000-8000-${String(number).padStart(12, "0")}","N":${number}}`;

const handlers: Readonly<Record<string, Handler>> = {
  /** Sends the first item of a list at once, and the rest after a request for `/release`. */
  "first-item-first": async (session, _request, response, path) => {
    if (path === "/release") {
      session.released.resolve();
      return response.end();
    }
    response.setHeader("Content-Type", "application/json");
    response.write(`[${itemOf(0)},`);
    await session.released.promise;
    return response.end(`${itemOf(1)},${itemOf(2)}]`);
  },

  /** An endless list, sent as fast as it is read. A write gets an endless error. */
  endless: (session, request, response, path) => {
    if (path === "/cut") return response.end(String(session.cut));
    if (request.method !== "GET") response.statusCode = 400;
    response.setHeader("Content-Type", "application/json");
    response.on("close", () => {
      session.cut = true;
    });
    let count = 0;
    response.write("[");
    const more = () => {
      while (!session.cut && response.write(`${itemOf(count++)},`));
    };
    response.on("drain", more);
    return more();
  },

  /** Accepts the request and never answers. */
  silent: () => {},

  /** Begins to answer, and then stops sending. */
  stalls: (_session, _request, response) => response.writeHead(200).write("["),

  /** The first time, sends half a list and drops the connection. After that, sends the whole list. */
  breaks: (session, _request, response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    if (session.requests > 1) return response.end(`[${itemOf(0)},${itemOf(1)}]`);
    return response.write(`[${itemOf(0)},`, () => response.destroy());
  },

  /** Answers the first two requests with 503, as an overloaded server does. */
  busy: (session, _request, response) => {
    if (session.requests <= 2) return response.writeHead(503, { "Retry-After": "0" }).end();
    return response.writeHead(200, { "Content-Type": "application/json" }).end("[]");
  },

  /** Asks the client to wait for two hours. */
  "busy-for-hours": (_session, _request, response) => response.writeHead(429, { "Retry-After": "7200" }).end(),

  redirect: (_session, _request, response) => response.writeHead(307, { Location: "https://elsewhere.example/" }).end(),

  /** Sends an HTML page for every request. */
  page: (_session, _request, response) =>
    response.writeHead(200, { "Content-Type": "text/html" }).end("<h1>Hello</h1>"),

  /** A list that is another one each time, and a page at every address outside the API. */
  pages: (session, _request, response, path) =>
    path.startsWith("/api/")
      ? response.writeHead(200, { "Content-Type": "application/json" }).end(`[${itemOf(session.requests)}]`)
      : response.writeHead(200, { "Content-Type": "text/html" }).end("<h1>Hello</h1>"),

  /** The same list. Other addresses get 404 and no CORS headers, even for a preflight (see below). */
  closed: (session, _request, response) =>
    response.writeHead(200, { "Content-Type": "application/json" }).end(`[${itemOf(session.requests)}]`),
};

export async function startOddServer(): Promise<{ readonly origin: string; stop(): void }> {
  const sessions = new Map<string, Session>();
  const server: Server = createServer((request, response) => {
    const [, kind = "", name = "", path = ""] = /^\/([^/]*)\/([^/]*)(\/.*)$/.exec(request.url ?? "") ?? [];
    if (kind === "closed" && !path.startsWith("/api/")) return response.writeHead(404).end();
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE");
    response.setHeader("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, If-None-Match");
    response.setHeader("Access-Control-Expose-Headers", "ETag, Location, Retry-After");
    if (request.method === "OPTIONS") return response.writeHead(204).end();
    const session = sessions.get(`${kind}/${name}`) ?? {
      released: Promise.withResolvers<void>(),
      requests: 0,
      cut: false,
    };
    sessions.set(`${kind}/${name}`, session);
    if (path.startsWith("/api/")) session.requests++;
    return handlers[kind]?.(session, request, response, path) ?? undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
