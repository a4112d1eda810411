// Tests the queue of passwords: how many hashes are computed at the same time, how many passwords wait, in which order
// they are verified, and that the queue goes on after a failed hash.

import { expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import { hashesAtOnceMax, PasswordVerifier } from "../../src/credentials/password-verifier.ts";
import { eventually } from "../eventually.ts";
import { turns } from "../turns.ts";

/**
 * A verifier whose hash computations end when the test says so. `computing` lists their passwords, in the order in
 * which the computations started.
 */
function start() {
  const computing: { readonly password: string; readonly end: (right: boolean) => void }[] = [];
  const verifier = new PasswordVerifier(new Map([["ann", "hash"]]), (password) => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    computing.push({ password, end: resolve });
    return promise;
  });
  const verify = async (password: string, address: string) => {
    if (verifier.isBusy(address)) return "busy";
    return (await verifier.verify({ name: "ann", password }, address)) ? "right" : "wrong";
  };
  return { computing, verify };
}

/** Ends every computation as soon as it starts, until there have been `count`. */
async function endAll(computing: ReturnType<typeof start>["computing"], count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    await eventually(() => computing.length > index);
    computing[index]?.end(true);
  }
}

test("as many hashes are computed at the same time as there are processors, less one, so that a thread stays free for others", () => {
  expect(hashesAtOnceMax).toBe(Math.max(1, availableParallelism() - 1));
});

test("however many addresses send passwords, no more hashes are computed at the same time than the limit", async () => {
  const { computing, verify } = start();
  const count = hashesAtOnceMax + 50;
  const verdicts = Array.from({ length: count }, (_, index) => verify(`${index}`, `192.0.2.${index}`));
  for (let ended = 0; ended < count; ended++) {
    await eventually(() => computing.length === Math.min(count, ended + hashesAtOnceMax));
    await turns();
    expect(computing).toHaveLength(Math.min(count, ended + hashesAtOnceMax));
    computing[ended]?.end(false);
  }
  expect(new Set(await Promise.all(verdicts))).toEqual(new Set(["wrong"]));
});

test("one password of each address is verified and one waits, and further ones are refused", async () => {
  const { computing, verify } = start();
  const [first, second] = [verify("first", "192.0.2.1"), verify("second", "192.0.2.1")];
  expect(await verify("third", "192.0.2.1")).toBe("busy");
  const other = verify("other", "192.0.2.2");
  await endAll(computing, 3);
  expect(await Promise.all([first, second, other])).toEqual(["right", "right", "right"]);
});

test("a first sign-in waits for at most two passwords of each address that guesses as fast as it can", async () => {
  const { computing, verify } = start();
  const guessers = Array.from({ length: 5 }, (_, index) => `198.51.100.${index}`);
  const guess = (count = guessers.length) => guessers.slice(0, count).map((address) => verify("guess", address));
  guess(4);
  const signIn = verify("secret", "192.0.2.1");
  guess();
  const isSignIn = ({ password }: { password: string }) => password === "secret";
  for (let ended = 0; !computing.some(isSignIn); ended++) {
    await eventually(() => computing.length > ended);
    computing[ended]?.end(false);
    await turns();
    guess();
  }
  // Each address has at most one password in progress and one that waits, so the sign-in is next.
  expect(computing.findIndex(isSignIn)).toBeLessThanOrEqual(2 * guessers.length);
  computing.find(isSignIn)?.end(true);
  expect(await signIn).toBe("right");
});

test("after hashes fail, the next password of the same address is still verified", async () => {
  let calls = 0;
  const verifier = new PasswordVerifier(new Map([["ann", "hash"]]), async () => {
    if (++calls <= 2) throw new Error("out of memory");
    return true;
  });
  const verify = () => verifier.verify({ name: "ann", password: "secret" }, "192.0.2.1");
  const outcomes = await Promise.allSettled([verify(), verify()]);
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(["rejected"]));
  expect(await verify()).toBe(true);
});
