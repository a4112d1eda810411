// Tests the queue of passwords: how many of one address may wait, in which order they are verified, and that the queue
// goes on after a failed hash.

import { expect, test } from "bun:test";
import { PasswordVerifier } from "../../src/credentials/password-verifier.ts";
import { eventually } from "../eventually.ts";

const guesses = { take: () => 0, giveBack() {} };

/**
 * A verifier whose hash computations end when the test says so. `computing` lists their passwords, in the order in
 * which the computations started.
 */
function start() {
  const computing: { readonly password: string; readonly end: (right: boolean) => void }[] = [];
  const verifier = new PasswordVerifier(new Map([["ann", "hash"]]), guesses, (password) => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    computing.push({ password, end: resolve });
    return promise;
  });
  const verify = async (password: string, address: string) =>
    (await verifier.verify({ name: "ann", password }, address)).kind;
  return { computing, verify };
}

test("an address does not have to wait for the passwords of another address", async () => {
  const { computing, verify } = start();
  const many = Array.from({ length: 10 }, (_, count) => verify(`many ${count}`, "198.51.100.1"));
  const one = verify("one", "198.51.100.2");
  for (let index = 0; index < 11; index++) {
    await eventually(() => computing.length > index);
    computing[index]?.end(true);
  }
  expect(computing.slice(0, 3).map(({ password }) => password)).toEqual(["many 0", "one", "many 1"]);
  expect(new Set(await Promise.all([...many, one]))).toEqual(new Set(["right"]));
});

test("the 65th waiting password of one address is refused, while another address can still add one", async () => {
  const { computing, verify } = start();
  const waiting = Array.from({ length: 64 }, (_, count) => verify(`${count}`, "192.0.2.1"));
  expect(await verify("one too many", "192.0.2.1")).toBe("busy");
  const other = verify("other", "192.0.2.2");
  for (let index = 0; index < 65; index++) {
    await eventually(() => computing.length > index);
    computing[index]?.end(true);
  }
  expect(await other).toBe("right");
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(["right"]));
});

test("after hashes fail, the next password of the same address is still verified", async () => {
  let calls = 0;
  const verifier = new PasswordVerifier(new Map([["ann", "hash"]]), guesses, async () => {
    if (++calls <= 64) throw new Error("out of memory");
    return true;
  });
  const verify = () => verifier.verify({ name: "ann", password: "secret" }, "192.0.2.1");
  const outcomes = await Promise.allSettled(Array.from({ length: 64 }, verify));
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(["rejected"]));
  expect(await verify()).toEqual({ kind: "right" });
});
