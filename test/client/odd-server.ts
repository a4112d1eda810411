// A server that fails in the ways in which networks and servers fail. It also has a change feed that works. The first
// segment of the path selects the behaviour. The second segment gives each test a state of its own.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Change {
  readonly version: number;
  readonly position: number;
  readonly id: string;
  readonly json: string | null;
}

/** The server's state for one test. */
class Session {
  readonly items = new Map<string, Change>();
  readonly log: Change[] = [];
  readonly streams = new Set<ServerResponse>();
  readonly released = Promise.withResolvers<void>();
  epoch = "0123456789abcdef";
  requests = 0;
  version = 0;
  /** True if the next reader of the feed gets `resync` instead of the changes that it missed. */
  forgetful = false;
  cut = false;

  write(id: string, json: string | null): Change {
    this.version++;
    const position = this.items.get(id)?.position ?? this.version;
    const change = { version: this.version, position, id, json };
    if (json === null) this.items.delete(id);
    else this.items.set(id, change);
    this.log.push(change);
    for (const stream of this.streams) stream.write(this.event(change));
    return change;
  }

  event(change: Change): string {
    return `event: change\nid: ${this.epoch}-${change.version}\ndata: ${this.data(change)}\n\n`;
  }

  data({ version, position, id, json }: Change): string {
    const etag = json === null ? "" : `"etag":"\\"${this.epoch}-${version}\\"",`;
    return `{"version":${version},"position":${position},"id":"${id}",${etag}"item":${json}}`;
  }
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

  /** An endless list, sent as fast as it is read. */
  endless: (session, _request, response, path) => {
    if (path === "/cut") return response.end(String(session.cut));
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

  /** Drops every connection in the middle of a list. */
  drops: (_session, _request, response) => response.writeHead(200).write(`[${itemOf(0)},`, () => response.destroy()),

  /**
   * Each answer has one item more than the answer before. The first two answers stay unfinished, and the third one, with
   * three items, is whole. `/break` drops the connections of unfinished answers. `/change` does that too, and changes
   * the ETag.
   */
  "breaks-often": (session, _request, response, path) => {
    if (path === "/break" || path === "/change") {
      if (path === "/change") session.epoch = "another";
      for (const stream of session.streams) stream.destroy();
      return response.end();
    }
    response.writeHead(200, { "Content-Type": "application/json", ETag: `"${session.epoch}"` });
    const items = [itemOf(0), itemOf(1), itemOf(2)].slice(0, session.requests).join(",");
    if (session.requests === 3) return response.end(`[${items}]`);
    session.streams.add(response);
    return response.write(`[${items},`);
  },

  /** Carries out the first request, but drops the connection instead of answering it. */
  lossy: async (session, request, response, path) => {
    if (path === "/requests") return response.end(String(session.requests));
    const lost = session.requests === 1;
    const [status, body, etag] = await operate(session, request, path);
    if (lost) return request.socket.destroy();
    if (etag !== undefined) response.setHeader("ETag", etag);
    return response.writeHead(status, { "Content-Type": "application/json" }).end(body);
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

  /**
   * A to-do service with a change feed. `/cut` drops its connections. After `/forget`, the next reader gets `resync`
   * instead of the changes that it missed. `/resync` sends a `resync` to the readers.
   */
  feed: async (session, request, response, path) => {
    if (path === "/cut") {
      for (const stream of session.streams) stream.destroy();
      return response.end();
    }
    if (path === "/forget") {
      session.forgetful = true;
      return response.end();
    }
    if (path === "/resync") {
      while (session.streams.size === 0) await Bun.sleep(5);
      for (const stream of session.streams) stream.write(resync(session));
      return response.end();
    }
    if (path.startsWith("/changes")) return feed(session, response, path);
    const [status, body, etag] = await operate(session, request, path);
    if (etag !== undefined) response.setHeader("ETag", etag);
    return response.writeHead(status, { "Content-Type": "application/json" }).end(body);
  },

  /**
   * A to-do service that answers any address outside the API with 404 and without CORS headers, even for a preflight.
   * `startOddServer` sends these answers.
   */
  closed: async (session, request, response, path) => {
    const [status, body] = await operate(session, request, path);
    return response.writeHead(status, { "Content-Type": "application/json" }).end(body);
  },

  /**
   * A to-do service that sends an HTML page for every address outside the API, as servers of single-page applications
   * do.
   */
  pages: async (session, request, response, path) => {
    if (!path.startsWith("/api/"))
      return response.writeHead(200, { "Content-Type": "text/html" }).end("<h1>Hello</h1>");
    const [status, body] = await operate(session, request, path);
    return response.writeHead(status, { "Content-Type": "application/json" }).end(body);
  },
};

const resync = ({ epoch, version }: Session) =>
  `event: resync\nid: ${epoch}-${version}\ndata: {"epoch":"${epoch}","version":${version}}\n\n`;

function feed(session: Session, response: ServerResponse, path: string): void {
  const { epoch, version } = session;
  if (path.startsWith("/changes/delta")) {
    const changes = [...session.items.values()].map((change) => session.data(change));
    response.setHeader("Content-Type", "application/json");
    response.end(`{"epoch":"${epoch}","version":${version},"whole":true,"changes":[${changes.join(",")}]}`);
    return;
  }
  const since = Number(new URL(path, "http://x").searchParams.get("since")?.split("-")[1] ?? version);
  response.setHeader("Content-Type", "text/event-stream");
  response.write(`: hello\n\nevent: ready\nid: ${epoch}-${since}\n`);
  response.write(`data: {"epoch":"${epoch}","version":${version},"readOnly":false}\n\n`);
  if (session.forgetful) response.write(resync(session));
  else for (const change of session.log.filter((one) => one.version > since)) response.write(session.event(change));
  session.forgetful = false;
  session.streams.add(response);
  response.on("close", () => session.streams.delete(response));
}

/** A to-do service in a few lines. It offers form B of the API. */
async function operate(
  session: Session,
  request: IncomingMessage,
  path: string,
): Promise<[status: number, body: string | undefined, etag?: string]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const json = Buffer.concat(chunks).toString();
  const pathId = path.split("/")[3]?.toLowerCase();
  if (request.method === "GET" && !pathId)
    return [200, `[${[...session.items.values()].map((item) => item.json).join(",")}]`];
  const id = pathId || (JSON.parse(json) as { ID: string }).ID.toLowerCase();
  const current = session.items.get(id);
  const tag = ({ version }: Change) => `"${session.epoch}-${version}"`;
  if (request.method === "POST" && current) return [409, '{"code":"TodoItemIDInUse"}'];
  if (request.method !== "POST" && !current) return [404, '{"code":"RecordNotFound"}'];
  if (request.method === "GET" && current) return [200, current.json ?? "", tag(current)];
  const ifMatch = request.headers["if-match"];
  if (current && ifMatch !== undefined && ifMatch !== tag(current))
    return [412, `{"code":"PreconditionFailed","current":${current.json}}`, tag(current)];
  const change = session.write(id, request.method === "DELETE" ? null : json);
  return request.method === "POST" ? [201, json, tag(change)] : [204, undefined, tag(change)];
}

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
    const session = sessions.get(`${kind}/${name}`) ?? new Session();
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
