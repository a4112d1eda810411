import { describe, expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Access } from "../../src/http/access.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import { Problem } from "../../src/http/problem.ts";
import type { HeaderFields } from "../../src/wire/message.ts";
import { ids, item, Service } from "../service.ts";
import { turns } from "../turns.ts";

const hash = (password: string) => Bun.password.hashSync(password, { algorithm: "bcrypt", cost: 4 });
const header = (name: string, password: string) => `Basic ${btoa(`${name}:${password}`)}`;
const ann = header("ann", "secret");

interface Clock {
  now: number;
}

function start(clock: Clock = { now: 0 }): BasicAuth {
  return new BasicAuth(new Map([["ann", hash("secret")]]), { now: () => clock.now });
}

/**
 * Returns how a check ends: "at once" if accepted without computing a hash, "verified" if accepted after computing one,
 * or the problem code if refused.
 */
async function outcome(auth: BasicAuth, sent: string | HeaderFields, address = "192.0.2.1"): Promise<string> {
  const headers = typeof sent === "string" ? new Map([["authorization", sent]]) : sent;
  try {
    const signedIn = auth.check(headers.get("authorization") ?? "", () => address);
    if (!(await signedIn)) return "refused";
    return signedIn instanceof Promise ? "verified" : "at once";
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.code;
  }
}

describe("correct credentials", () => {
  test("correct credentials are verified once, however much time passes", async () => {
    const clock = { now: 0 };
    const auth = start(clock);
    expect(await outcome(auth, ann)).toBe("verified");
    clock.now = 1e9;
    expect(await outcome(auth, ann)).toBe("at once");
  });

  test("the credentials of every user stay known, however many users sign in", async () => {
    const users = new Map(Array.from({ length: 1_100 }, (_, index) => [`user ${index}`, "hash"]));
    const auth = new BasicAuth(users, { now: () => 0, verify: async () => true });
    for (const name of users.keys()) expect(await outcome(auth, header(name, "secret"))).toBe("verified");
    expect(await outcome(auth, header("user 0", "secret"))).toBe("at once");
  });

  test("the spellings of the same credentials are remembered as one, so a user cannot fill the memory with them", async () => {
    const auth = start();
    expect(await outcome(auth, ann)).toBe("verified");
    for (const spelling of [ann.replaceAll("=", ""), `${ann}==`]) expect(await outcome(auth, spelling)).toBe("at once");
    // bcrypt takes these for the same password.
    expect(await outcome(auth, header("ann", "secret\0secret"))).toBe("refused");
    expect(await outcome(auth, `Basic ${Buffer.from("\ufeffann:secret").toString("base64")}`)).toBe("refused");
  });

  test("a user who is signed in is not locked out by wrong guesses with the same name from the same address", async () => {
    const clock = { now: 0 };
    const auth = start(clock);
    expect(await outcome(auth, ann)).toBe("verified");
    for (let seconds = 2; seconds <= 600; seconds += 2) {
      clock.now = seconds * 1_000;
      await outcome(auth, header("ann", `guess ${seconds}`));
      expect(await outcome(auth, ann)).toBe("at once");
    }
    expect(await outcome(auth, header("ann", "guess"))).toBe("TooManyRequests");
  });

  test("when the users change, verified credentials are forgotten, and a verification in progress is not remembered", async () => {
    const auth = start();
    const repeated = new Map([["authorization", ann]]);
    expect(await outcome(auth, repeated)).toBe("verified");
    for (let count = 0; count < 2; count++) expect(await outcome(auth, repeated)).toBe("at once");
    auth.replaceUsers(new Map([["ann", hash("other")]]));
    expect(await outcome(auth, repeated)).toBe("refused");
    auth.replaceUsers(new Map([["ann", hash("secret")]]));
    const verifying = outcome(auth, ann);
    auth.replaceUsers(new Map());
    await verifying;
    expect(await outcome(auth, ann)).toBe("refused");
  });

  test("a user who is removed or gets another password while the password is hashed is refused, others are not", async () => {
    for (const [users, expected] of [
      [new Map(), "refused"],
      [new Map([["ann", "hash of other"]]), "refused"],
      [new Map([["ann", "hash of secret"]]), "verified"],
    ] as const) {
      const hashing = Promise.withResolvers<void>();
      const started = Promise.withResolvers<void>();
      const auth = new BasicAuth(new Map([["ann", "hash of secret"]]), {
        verify: async (password, hash) => {
          started.resolve();
          await hashing.promise;
          return hash === `hash of ${password}`;
        },
      });
      const first = outcome(auth, ann);
      await started.promise;
      auth.replaceUsers(users);
      const second = outcome(auth, ann);
      hashing.resolve();
      expect(await Promise.all([first, second])).toEqual([expected, expected]);
    }
  });

  test("correct credentials that are sent many times at once are verified once and use up no guesses", async () => {
    const auth = start();
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => outcome(auth, ann)));
    expect(new Set(outcomes)).toEqual(new Set(["verified"]));
    for (let count = 0; count < 4; count++) expect(await outcome(auth, header("ann", `${count}`))).toBe("refused");
  });
});

test("of correct passwords that are sent at once from one address, two are accepted and the others may come again", async () => {
  const users = new Map(Array.from({ length: 12 }, (_, index) => [`user${index}`, hash(`${index}`)]));
  const auth = new BasicAuth(users);
  const signIn = (name: string, index: number) => outcome(auth, header(name, `${index}`));
  const outcomes = await Promise.all([...users.keys()].map(signIn));
  expect(outcomes).toEqual(["verified", "verified", ...Array(10).fill("TooManyRequests")]);
  for (const [index, name] of [...users.keys()].entries())
    expect(await signIn(name, index)).toBe(index < 2 ? "at once" : "verified");
});

describe("guessing passwords", () => {
  test("guessing is slowed after five failures of one name from one address, and the answer says how long to wait", async () => {
    const auth = start();
    for (let count = 0; count < 5; count++)
      expect(await outcome(auth, header("ann", `wrong ${count}`))).toBe("refused");
    try {
      await auth.check(header("ann", "wrong again"), () => "192.0.2.1");
      throw new Error("it was let through");
    } catch (error) {
      const message = "Too many wrong passwords came from this address, for this name or others. Try again in 5 s.";
      expect(error).toMatchObject({ code: "TooManyRequests", headers: { "Retry-After": "5" }, message });
    }
  });

  test("guessing one user's password slows no other user at that address, whether the guessed name exists or not", async () => {
    for (const guessed of ["ann", "nobody"]) {
      const auth = new BasicAuth(
        new Map([
          ["ann", hash("secret")],
          ["bob", hash("hidden")],
        ]),
        { now: () => 0 },
      );
      for (let count = 0; count < 5; count++)
        expect(await outcome(auth, header(guessed, `wrong ${count}`))).toBe("refused");
      expect(await outcome(auth, header(guessed, "wrong again"))).toBe("TooManyRequests");
      expect(await outcome(auth, header("bob", "wrong"))).toBe("refused");
      expect(await outcome(auth, header("bob", "hidden"))).toBe("verified");
    }
  });

  test("guessing with many names is slowed for the whole address after 100 failures, to one guess a second", async () => {
    const clock = { now: 0 };
    const auth = new BasicAuth(new Map([["ann", "hash"]]), {
      now: () => clock.now,
      verify: async (password) => password === "secret",
    });
    for (let count = 0; count < 100; count++)
      expect(await outcome(auth, header(`user ${count}`, "wrong"))).toBe("refused");
    expect(await outcome(auth, header("ann", "wrong"))).toBe("TooManyRequests");
    expect(await outcome(auth, header("ann", "wrong"), "192.0.2.2")).toBe("refused");
    clock.now = 1_000;
    expect(await outcome(auth, header("ann", "wrong"))).toBe("refused");
    expect(await outcome(auth, header("ann", "wrong too"))).toBe("TooManyRequests");
  });

  test("guesses of one name that are refused do not slow other names at that address", async () => {
    const auth = start();
    for (let count = 0; count < 300; count++) await outcome(auth, header("nobody", `wrong ${count}`));
    expect(await outcome(auth, ann)).toBe("verified");
  });

  test("correct passwords never slow their address, however many users log in from it", async () => {
    const users = new Map(Array.from({ length: 150 }, (_, index) => [`user ${index}`, "hash"]));
    const auth = new BasicAuth(users, { now: () => 0, verify: async (password) => password === "secret" });
    for (const name of users.keys()) expect(await outcome(auth, header(name, "secret"))).toBe("verified");
    expect(await outcome(auth, header("user 0", "wrong"))).toBe("refused");
  });

  test("credentials that are not UTF-8, or have no colon, are counted together, and slow no user", async () => {
    const auth = start();
    for (let count = 0; count < 5; count++)
      expect(await outcome(auth, `Basic ${btoa(`no colon ${count}`)}`)).toBe("refused");
    expect(await outcome(auth, `Basic ${btoa("\xff\xff:")}`)).toBe("TooManyRequests");
    expect(await outcome(auth, ann)).toBe("verified");
  });

  test("credentials sent at once from two addresses are verified for each, so neither is slowed by the other", async () => {
    const auth = start();
    for (let count = 0; count < 5; count++) await outcome(auth, header("ann", `wrong ${count}`));
    expect(await Promise.all([outcome(auth, ann), outcome(auth, ann), outcome(auth, ann, "192.0.2.2")])).toEqual([
      "TooManyRequests",
      "TooManyRequests",
      "verified",
    ]);
  });

  test("guessing from one address slows neither other addresses nor credentials that have been verified", async () => {
    const auth = start();
    expect(await outcome(auth, ann)).toBe("verified");
    for (let count = 0; count < 10; count++) await outcome(auth, header("ann", `wrong ${count}`));
    expect(await outcome(auth, header("ann", "wrong"))).toBe("TooManyRequests");
    expect(await outcome(auth, ann)).toBe("at once");
    expect(await outcome(auth, header("ann", "wrong"), "192.0.2.2")).toBe("refused");
  });

  test("guessing with many passwords at once gives no more tries than with one after the other", async () => {
    const auth = start();
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, count) => outcome(auth, header("ann", `${count}`))),
    );
    expect(outcomes.filter((each) => each === "refused")).toHaveLength(2);
    expect(outcomes.filter((each) => each === "TooManyRequests")).toHaveLength(48);
  });

  test("guessing with many passwords at once does not keep another address from logging in", async () => {
    const auth = start();
    const wrong = Promise.all(Array.from({ length: 500 }, (_, count) => outcome(auth, header("ann", `${count}`))));
    expect(await outcome(auth, ann, "192.0.2.2")).toBe("verified");
    expect((await wrong).filter((each) => each === "refused")).toHaveLength(2);
  });

  test("while many addresses guess, a compressed item does not wait for their hashes", async () => {
    const slow = await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 10 });
    const access = new Access({ mode: "writes", auth: new BasicAuth(new Map([["ann", slow]])) });
    const service = await Service.on(new MemoryEngine(), { access });
    const long = item(ids.one, `"Notes":"${"long ".repeat(1_000)}"`);
    expect((await service.send("POST", "/api/todoitems/", long, { Authorization: ann })).status).toBe(201);
    let answered = 0;
    const guesses = Array.from({ length: 10 }, async (_, index) => {
      service.address = `192.0.2.${index}`;
      const headers = { Authorization: header("ann", "wrong") };
      expect((await service.fetch("DELETE", `/api/todoitems/${ids.one}`, { headers })).status).toBe(401);
      answered++;
    });
    await turns();
    const headers = { "Accept-Encoding": "gzip" };
    const response = await service.fetch("GET", `/api/todoitems/${ids.one}`, { headers });
    expect([response.status, response.headers.get("content-encoding")]).toEqual([200, "gzip"]);
    expect(answered).toBeLessThan(guesses.length / 2);
    await Promise.all(guesses);
  });

  test("guessing with an unknown name computes a hash as for a known name, and always against the same one", async () => {
    const users = new Map(["ann", "bob", "eve"].map((name) => [name, hash(name)]));
    const computed: string[] = [];
    const auth = new BasicAuth(users, {
      verify(password, against) {
        computed.push(against);
        return Bun.password.verify(password, against);
      },
    });
    expect(await outcome(auth, header("nobody", "wrong"))).toBe("refused");
    expect(await outcome(auth, header("nobody", "wrong too"))).toBe("refused");
    expect(computed).toHaveLength(2);
    expect(computed[0]).toBe(computed[1] ?? "");
    expect([...users.values()]).toContain(computed[0] ?? "");
    // For an unknown name, the password is checked against the hash of some user. Even the correct password of that
    // user is refused.
    for (const password of users.keys()) expect(await outcome(auth, header("nobody", password))).toBe("refused");
  });
});
