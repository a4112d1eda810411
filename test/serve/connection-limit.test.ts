import { expect, test } from "bun:test";
import { connectionLimit, listenOptions } from "../../src/serve/servers.ts";
import { readSettings } from "../../src/serve/settings.ts";

function settingsOf(...args: string[]) {
  const result = readSettings(args, {}, []);
  if ("problems" in result) throw new Error(result.problems.join());
  return result.settings;
}

test("one address has at most half of all connections and of all unfinished bodies, and proxies are not limited", () => {
  const address = "192.0.2.1";
  const direct = connectionLimit(settingsOf());
  expect([direct.take(address, 5_001), direct.take("192.0.2.2")]).toEqual([false, true]);
  expect(connectionLimit(settingsOf("--trust-proxy")).take(address, 10_000)).toBe(true);
  const bytesOf = (...args: string[]) => listenOptions(settingsOf(...args), () => {}).unfinishedBodies;
  expect(bytesOf().take(address, 129 * 1024 ** 2)).toBe(false);
  expect(bytesOf("--trust-proxy").take(address, 256 * 1024 ** 2)).toBe(true);
  // One body may always be as large as `--body-limit` says.
  expect(bytesOf("--body-limit", "1GiB").take(address, 1024 ** 3)).toBe(true);
});
