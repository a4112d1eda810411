import { expect, test } from "bun:test";
import { describeBlackBox } from "../black-box.ts";
import { describeOnEveryEngine, expectProblem, ids, item } from "../service.ts";

describeBlackBox("Limits", (start) => {
  test("1. a body of exactly the limit is accepted, and one byte more gets 413", async () => {
    const service = await start({ bodyBytesMax: 200 });
    const padded = (length: number) => item(ids.one, `"a":"${"x".repeat(length - item(ids.one, '"a":""').length)}"`);
    const refused = await service.send("POST", "/api/todoitems/", padded(201));
    const { detail } = await expectProblem(refused, 413, "BodyTooLarge");
    expect(detail).toEndWith("Send a smaller item, or ask the operator to raise --body-limit.");
    await service.create(padded(200));
    expect(await service.list()).toBe(`[${padded(200)}]`);
  });

  test("1. the limit counts bytes, not characters", async () => {
    const service = await start({ bodyBytesMax: 100 });
    const json = item(ids.one, `"a":"${"é".repeat(40)}"`);
    expect(json.length).toBeLessThan(100);
    await expectProblem(await service.send("POST", "/api/todoitems/", json), 413, "BodyTooLarge");
  });

  test("1. nesting up to the limit is accepted, and one level more gets 400", async () => {
    const service = await start();
    const nested = (levels: number) => item(ids.one, `"a":${"[".repeat(levels)}${"]".repeat(levels)}`);
    await expectProblem(await service.send("POST", "/api/todoitems/", nested(64)), 400, "NestingTooDeep");
    await service.create(nested(63));
    expect(await service.list()).toBe(`[${nested(63)}]`);
    const bottomless = `{"a":${"[".repeat(500_000)}`;
    await expectProblem(await service.send("POST", "/api/todoitems/", bottomless), 400, "NestingTooDeep");
  });

  test("1. a create or update beyond the store limit gets 507 and changes nothing; making room lets it through", async () => {
    const service = await start({ storeBytesMax: 200 });
    const [first, second] = [item(ids.one, `"a":"${"x".repeat(60)}"`), item(ids.two, `"a":"${"x".repeat(60)}"`)];
    await service.create(first);
    await expectProblem(await service.send("POST", "/api/todoitems/", second), 507, "StoreFull");
    const longer = item(ids.one, `"a":"${"é".repeat(90)}"`);
    await expectProblem(await service.send("PUT", "/api/todoitems/", longer), 507, "StoreFull");
    expect(await service.list()).toBe(`[${first}]`);
    expect((await service.send("PUT", "/api/todoitems/", item(ids.one))).status).toBe(204);
    await service.create(second);
    expect(await service.list()).toBe(`[${item(ids.one)},${second}]`);
  });

  test("1. a batch of creates fills the store up to its limit and no further", async () => {
    const service = await start({ storeBytesMax: 1_000 });
    const answers = await Promise.all(Array.from({ length: 50 }, () => service.send("POST", "/api/todoitems/", "{}")));
    const created = answers.filter(({ status }) => status === 201).length;
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 507]));
    const { length } = await service.list();
    expect(length).toBeLessThanOrEqual(1_000 + created);
    expect(JSON.parse(await service.list())).toHaveLength(created);
    expect(length + 46).toBeGreaterThan(1_000);
  });
});

describeOnEveryEngine("Limits, seen from inside", (start) => {
  test("1. when the write queue is full, further writes get 503 with Retry-After, and the queued writes are carried out", async () => {
    const service = await start({ writeQueueMax: 10 });
    const answers = await Promise.all(Array.from({ length: 30 }, () => service.send("POST", "/api/todoitems/", "{}")));
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused).toHaveLength(20);
    expect(refused[0]?.headers.get("retry-after")).toBe("1");
    if (refused[0]) await expectProblem(refused[0], 503, "StoreUnavailable");
    expect(JSON.parse(await service.list())).toHaveLength(10);
  });

  test("2. the list has no size limit, but when it passes 256000 bytes, which one client cannot read, the log says so once", async () => {
    const service = await start();
    const notes = `"Notes":"${"x".repeat(10_000)}"`;
    for (let count = 0; count < 30; count++) await service.create(`{${notes}}`);
    expect(service.log).toEqual([]);
    expect((await service.list()).length).toBeGreaterThan(256_000);
    await service.list();
    expect(service.log.map(({ level }) => level)).toEqual(["warn"]);
    expect(service.log[0]?.message).toContain("256,000 bytes");
    expect(service.log[0]?.message).toContain("The tutorial's Xamarin.Forms app of 2016 and 2017 cannot read it");
    expect(service.log[0]?.message).toContain("MaxResponseContentBufferSize");
  });
});
