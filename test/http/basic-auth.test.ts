import { describe, expect, test } from "bun:test";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import { Problem } from "../../src/http/problem.ts";

const hash = (password: string) => Bun.password.hashSync(password, { algorithm: "bcrypt", cost: 4 });
const header = (name: string, password: string) => `Basic ${btoa(`${name}:${password}`)}`;
const ann = header("ann", "secret");

interface Clock {
  now: number;
}

function start(clock: Clock = { now: 0 }): BasicAuth {
  return new BasicAuth(new Map([["ann", hash("secret")]]), { now: () => clock.now });
}

/** How a check ends: at once or after computing a hash, let through or refused. */
async function outcome(auth: BasicAuth, authorization: string, address = "192.0.2.1"): Promise<string> {
  try {
    const verifying = auth.check(new Map([["authorization", authorization]]), () => address);
    if (!verifying) return "at once";
    await verifying;
    return "verified";
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.code;
  }
}

describe("a credential that was right", () => {
  test("is remembered for a minute, then verified again", async () => {
    const clock = { now: 0 };
    const auth = start(clock);
    expect(await outcome(auth, ann)).toBe("verified");
    clock.now = 59_000;
    expect(await outcome(auth, ann)).toBe("at once");
    clock.now = 61_000;
    expect(await outcome(auth, ann)).toBe("verified");
  });

  test("is forgotten when the users change, also while it is being verified", async () => {
    const auth = start();
    expect(await outcome(auth, ann)).toBe("verified");
    auth.replaceUsers(new Map([["ann", hash("other")]]));
    expect(await outcome(auth, ann)).toBe("CredentialsRequired");
    auth.replaceUsers(new Map([["ann", hash("secret")]]));
    const verifying = outcome(auth, ann);
    auth.replaceUsers(new Map());
    await verifying;
    expect(await outcome(auth, ann)).toBe("CredentialsRequired");
  });

  test("sent many times at once is verified once, and uses up no guesses", async () => {
    const auth = start();
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => outcome(auth, ann)));
    expect(new Set(outcomes)).toEqual(new Set(["verified"]));
    for (let count = 0; count < 4; count++)
      expect(await outcome(auth, header("ann", `${count}`))).toBe("CredentialsRequired");
  });
});

test("right passwords of many users sent at once from one address are all let through", async () => {
  const users = new Map(Array.from({ length: 12 }, (_, index) => [`user${index}`, hash(`${index}`)]));
  const auth = new BasicAuth(users);
  const outcomes = await Promise.all([...users.keys()].map((name, index) => outcome(auth, header(name, `${index}`))));
  expect(outcomes).toEqual(Array(12).fill("verified"));
});

describe("guessing", () => {
  test("is slowed after five failures from one address, with the time to wait, and goes on after it", async () => {
    const auth = start();
    for (let count = 0; count < 5; count++)
      expect(await outcome(auth, header("ann", `wrong ${count}`))).toBe("CredentialsRequired");
    try {
      await auth.check(new Map([["authorization", header("ann", "wrong again")]]), () => "192.0.2.1");
      throw new Error("it was let through");
    } catch (error) {
      expect(error).toMatchObject({ code: "TooManyRequests", retryAfterSeconds: 5 });
    }
  });

  test("from one address does not slow another, nor a credential already known to be right", async () => {
    const auth = start();
    expect(await outcome(auth, ann)).toBe("verified");
    for (let count = 0; count < 10; count++) await outcome(auth, header("ann", `wrong ${count}`));
    expect(await outcome(auth, header("ann", "wrong"))).toBe("TooManyRequests");
    expect(await outcome(auth, ann)).toBe("at once");
    expect(await outcome(auth, header("ann", "wrong"), "192.0.2.2")).toBe("CredentialsRequired");
  });

  test("many passwords sent at once are counted before they are verified", async () => {
    const auth = start();
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, count) => outcome(auth, header("ann", `${count}`))),
    );
    expect(outcomes.filter((each) => each === "CredentialsRequired")).toHaveLength(5);
    expect(outcomes.filter((each) => each === "TooManyRequests")).toHaveLength(45);
  });

  test("however many one address sends at once, another's right password is verified", async () => {
    const auth = start();
    const wrong = Promise.all(Array.from({ length: 500 }, (_, count) => outcome(auth, header("ann", `${count}`))));
    expect(await outcome(auth, ann, "192.0.2.2")).toBe("verified");
    expect((await wrong).filter((each) => each === "CredentialsRequired")).toHaveLength(5);
  });

  test("from very many addresses at once is bounded too", async () => {
    const auth = new BasicAuth(new Map([["ann", "hash"]]), { verify: async () => false });
    const outcomes = await Promise.all(
      Array.from({ length: 2_000 }, (_, count) =>
        outcome(auth, header("ann", `${count}`), `10.0.${count >> 8}.${count & 255}`),
      ),
    );
    expect(outcomes.filter((each) => each === "CredentialsRequired")).toHaveLength(1_000);
  });

  test("from many addresses at once has at most 64 hashes computed at a time, and all are answered", async () => {
    let underWay = 0;
    let most = 0;
    const auth = new BasicAuth(new Map([["ann", "hash"]]), {
      async verify() {
        most = Math.max(most, ++underWay);
        await Bun.sleep(1);
        underWay--;
        return false;
      },
    });
    const outcomes = await Promise.all(
      Array.from({ length: 500 }, (_, count) =>
        outcome(auth, header("ann", `${count}`), `10.0.${count >> 8}.${count & 255}`),
      ),
    );
    expect(most).toBe(64);
    expect(outcomes).toEqual(Array(500).fill("CredentialsRequired"));
  });

  test("a name that does not exist has a hash computed like one that does, always the same one", async () => {
    const users = new Map(["ann", "bob", "eve"].map((name) => [name, hash(name)]));
    const computed: string[] = [];
    const auth = new BasicAuth(users, {
      verify(password, against) {
        computed.push(against);
        return Bun.password.verify(password, against);
      },
    });
    expect(await outcome(auth, header("nobody", "wrong"))).toBe("CredentialsRequired");
    expect(await outcome(auth, header("nobody", "wrong too"))).toBe("CredentialsRequired");
    expect(computed).toHaveLength(2);
    expect(computed[0]).toBe(computed[1] ?? "");
    expect([...users.values()]).toContain(computed[0] ?? "");
    // Not even the password of the user whose hash stands in opens anything.
    for (const password of users.keys())
      expect(await outcome(auth, header("nobody", password))).toBe("CredentialsRequired");
  });
});
