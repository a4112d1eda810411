// The service with Bun.serve instead of src/wire: the same app and the same store behind the runtime's own HTTP server.
// Usage: bun bun-serve.ts PORT STORE [--tls-cert FILE --tls-key FILE]

import { parseArgs } from "node:util";
import { realLimits } from "../../src/collection/limits.ts";
import { TodoStore } from "../../src/collection/todo-store.ts";
import { SqliteEngine } from "../../src/engines/sqlite/sqlite-engine.ts";
import { App } from "../../src/http/app.ts";
import { type Answer, type HttpRequest, PieceBody } from "../../src/wire/message.ts";
import { bodyTooLarge } from "../../src/wire/refusal.ts";
import { appDefaults } from "../../test/app-defaults.ts";

const { values, positionals } = parseArgs({
  options: { "tls-cert": { type: "string" }, "tls-key": { type: "string" } },
  allowPositionals: true,
});
const [port = "", store = ""] = positionals;
const { "tls-cert": cert, "tls-key": key } = values;
// Not the service of the tests: it checks every answer, and its store has small limits. Both would distort the comparison.
const items = await TodoStore.open(await SqliteEngine.open(store));
const app = new App(items, { ...appDefaults, limits: realLimits, log() {} });

const noContent = new Uint8Array();

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  development: false,
  ...(cert && key ? { tls: { cert: Bun.file(cert), key: Bun.file(key) } } : {}),
  fetch(request) {
    const answer = app.handle(requestOf(request));
    return answer instanceof Promise ? answer.then(responseOf) : responseOf(answer);
  },
});
console.log("ready");

/** As cheap as possible: the URL is not parsed again, and a header is looked up only if the app asks for it. */
function requestOf(request: Request): HttpRequest {
  const { url } = request;
  const pathAt = url.indexOf("/", "https://".length);
  const queryAt = url.indexOf("?", pathAt);
  return {
    method: request.method,
    path: queryAt === -1 ? url.slice(pathAt) : url.slice(pathAt, queryAt),
    query: queryAt === -1 ? "" : url.slice(queryAt + 1),
    headers: { get: (name) => request.headers.get(name) ?? undefined },
    peer: "127.0.0.1",
    isSecure: false,
    readBody: (bytesMax) => (request.body === null ? noContent : readBody(request, bytesMax)),
  };
}

async function readBody(request: Request, bytesMax: number): Promise<Uint8Array> {
  const bytes = await request.bytes();
  if (bytes.length > bytesMax) throw bodyTooLarge(bytesMax, false);
  return bytes;
}

const joinedBodies = new WeakMap<PieceBody, Uint8Array>();

/** The whole body in one array. Only the first call copies the pieces. */
function joined(body: PieceBody): Uint8Array {
  const known = joinedBodies.get(body);
  if (known) return known;
  const bytes = Buffer.concat(body.pieces.map((piece) => piece.bytes));
  joinedBodies.set(body, bytes);
  return bytes;
}

function responseOf({ status, headers, body: given }: Answer): Response {
  const body = given instanceof PieceBody ? joined(given) : given;
  if (body === undefined) return new Response(null, { status, headers });
  if (typeof body === "string") return new Response(body, { status, headers });
  if (body instanceof Uint8Array)
    return new Response(Buffer.from(body.buffer, body.byteOffset, body.length), { status, headers });
  throw new Error("the change feed is not a part of this comparison");
}
