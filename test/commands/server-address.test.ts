import { expect, test } from "bun:test";
import { isOnThisMachine } from "../../src/commands/server-address.ts";

// For addresses of this machine, commands do not warn of a password that is sent unencrypted, and trust the development
// certificate.
for (const [address, isHere] of [
  ["http://localhost:5000/", true],
  ["http://LOCALHOST./", true],
  ["http://127.0.0.1/", true],
  ["http://127.1:5000/", true],
  ["http://[::1]/", true],
  ["http://[0:0:0:0:0:0:0:1]/", true],
  ["http://[::ffff:127.0.0.1]/", true],
  ["http://127.evil.example/", false],
  ["http://127.0.0.1.evil.example/", false],
  ["http://localhost.evil.example/", false],
  ["http://128.0.0.1/", false],
  ["http://[::2]/", false],
] as const)
  test(`${address} is ${isHere ? "an" : "not an"} address of this machine`, () =>
    expect(isOnThisMachine(new URL(address))).toBe(isHere));
