// The options that test servers start with. A test overrides the options that it is about.

import type { ListenOptions } from "../../src/wire/listen.ts";
import { SharedLimit } from "../../src/wire/shared-limit.ts";
import { UnsentBytes } from "../../src/wire/unsent-bytes.ts";

export const listenOptions: ListenOptions = {
  addresses: ["127.0.0.1"],
  port: 0,
  requestTimeoutMs: 30_000,
  idleTimeoutMs: 30_000,
  unfinishedBodies: new SharedLimit(256 * 1024 ** 2),
  unsentBytes: new UnsentBytes({ bytesMax: 64 * 1024 ** 2, onCut() {} }),
  onHandshakeFailure() {},
  onDefect(error) {
    throw error;
  },
};

/** A limit on connections that one address may use up. */
export function connectionLimit(max = 10_000): SharedLimit {
  return new SharedLimit(max, max);
}
