// A bare HTTP/2 server of the runtime, which sends the same bytes for each request.
// Usage: bun http2.ts PORT FILE-OF-THE-BODY CERTIFICATE KEY

import { readFileSync } from "node:fs";
import { createSecureServer, type ServerHttp2Stream } from "node:http2";

const [port, file = "", cert = "", key = ""] = process.argv.slice(2);
const body = readFileSync(file);
const server = createSecureServer({ cert: readFileSync(cert), key: readFileSync(key) });
server.on("stream", (stream: ServerHttp2Stream) => {
  stream.on("error", () => {});
  stream.respond({
    ":status": 200,
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-cache",
    "content-length": body.length,
  });
  stream.end(body);
});
server.listen(Number(port), "127.0.0.1", () => console.log("ready"));
