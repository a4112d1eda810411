import { expect, test } from "bun:test";
import { connectionLimits, listenOptions } from "../../src/serve/servers.ts";
import { readSettings } from "../../src/serve/settings.ts";

function settingsOf(...args: string[]) {
  const result = readSettings(args, {}, []);
  if ("problems" in result) throw new Error(result.problems.join());
  return result.settings;
}

test("one address has at most half of all connections and of all unfinished bodies, and proxies are not limited", () => {
  const address = "192.0.2.1";
  const direct = connectionLimits(settingsOf(), 100_000).connections;
  expect([direct.take(address, 5_001), direct.take("192.0.2.2")]).toEqual([false, true]);
  expect(connectionLimits(settingsOf("--trust-proxy"), 100_000).connections.take(address, 10_000)).toBe(true);
  const bytesOf = (...args: string[]) => listenOptions(settingsOf(...args), () => {}).unfinishedBodies;
  expect(bytesOf().take(address, 129 * 1024 ** 2)).toBe(false);
  expect(bytesOf("--trust-proxy").take(address, 256 * 1024 ** 2)).toBe(true);
  // One body may always be as large as `--body-limit` says.
  expect(bytesOf("--body-limit", "1GiB").take(address, 1024 ** 3)).toBe(true);
});

test("all connections together leave the process some descriptors", () => {
  const { connections, surplus } = connectionLimits(settingsOf("--trust-proxy"), 1_024);
  expect([connections.take("a", 812), connections.take("a"), surplus.take("a", 116), surplus.take("a")]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});
