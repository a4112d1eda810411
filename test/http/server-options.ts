// The options a test server starts with, unless the test is about one of them.

import type { ServerOptions } from "../../src/http/server.ts";

export const serverOptions: ServerOptions = {
  host: "127.0.0.1",
  port: 0,
  certificate: undefined,
  sharesPort: false,
  hsts: false,
  idleTimeoutSeconds: 30,
  connectionsMax: 10_000,
  logRequests: false,
  trustProxy: false,
  log() {},
};
