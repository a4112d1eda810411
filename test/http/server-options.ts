// The options a test server starts with, unless the test is about one of them.

import type { ServerOptions } from "../../src/wire/server.ts";

export const serverOptions: ServerOptions = {
  host: "127.0.0.1",
  port: 0,
  certificate: undefined,
  sharesPort: false,
  hsts: false,
  headerBytesMax: 16 * 1024,
  requestTimeoutMs: 30_000,
  idleTimeoutMs: 30_000,
  connections: { open: 0, max: 10_000 },
  logRequests: false,
  log() {},
};
