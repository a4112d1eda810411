import { expect, test } from "bun:test";
import { Access } from "../../src/http/access.ts";
import { RateLimiter } from "../../src/http/rate-limiter.ts";
import { addressKey } from "../../src/wire/shared-limit.ts";
import { describeOnEveryEngine, expectProblem } from "../service.ts";

test("the limiter allows a burst, then the steady rate, and returns the time to wait in whole seconds", () => {
  const clock = { now: 0 };
  const limiter = new RateLimiter({ burst: 3, perSecond: 0.5 }, () => clock.now);
  expect([limiter.take("a"), limiter.take("a"), limiter.take("a"), limiter.take("a")]).toEqual([0, 0, 0, 2]);
  expect(limiter.take("b")).toBe(0);
  clock.now = 1_999;
  expect(limiter.take("a")).toBe(1);
  clock.now = 2_000;
  expect([limiter.take("a"), limiter.take("a")]).toEqual([0, 2]);
  clock.now = 1_000_000;
  expect([limiter.take("a"), limiter.take("a"), limiter.take("a"), limiter.take("a")]).toEqual([0, 0, 0, 2]);
});

test("a returned token can be taken again, but a bucket never holds more tokens than its burst", () => {
  const limiter = new RateLimiter({ burst: 1, perSecond: 0.001 }, () => 0);
  limiter.take("a");
  limiter.giveBack("a");
  limiter.giveBack("a");
  expect([limiter.take("a"), limiter.take("a")]).toEqual([0, 1_000]);
});

test("the number of keys is limited, and the least recently used key is forgotten first", () => {
  const limiter = new RateLimiter({ burst: 1, perSecond: 0.001 }, () => 0);
  limiter.take("first");
  limiter.take("second");
  for (let count = 0; count < 9_998; count++) limiter.take(`${count}`);
  limiter.take("first");
  limiter.take("one more");
  expect(limiter.take("first")).toBeGreaterThan(0);
  expect(limiter.take("second")).toBe(0);
});

for (const [address, key] of Object.entries({
  "192.0.2.1": "192.0.2.1",
  "::ffff:192.0.2.1": "192.0.2.1",
  "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
  "2001:db8:1:2::9": "2001:db8:1:2::/64",
  "2001:db8::1": "2001:db8:0:0::/64",
  "::1": "0:0:0:0::/64",
  "1:2:3:4:5:6:7:8::9": "1:2:3:4:5:6:7:8::9",
  "": "",
})) {
  test(`the address ${address} is counted as ${key}`, () => expect(addressKey(address)).toBe(key));
}

describeOnEveryEngine("a rate limit", (start) => {
  test("an address that sends too many requests gets 429 with Retry-After, and other addresses do not", async () => {
    const rate = new RateLimiter({ burst: 2, perSecond: 0.1 });
    const service = await start({ access: new Access({ rate }) });
    expect((await service.fetch("GET", "/api/todoitems/")).status).toBe(200);
    expect((await service.send("POST", "/api/todoitems/", "{")).status).toBe(400);
    const response = await service.send("POST", "/api/todoitems/", "{}");
    expect(response.headers.get("retry-after")).toBe("10");
    await expectProblem(response, 429, "TooManyRequests");
    await expectProblem(await service.fetch("GET", "/nowhere"), 404, "RouteNotFound");
    service.address = "192.0.2.7";
    expect(await service.list()).toBe("[]");
  });
});
