import { expect, test } from "bun:test";
import { describeBlackBox } from "../black-box.ts";
import { ids, item } from "../service.ts";

describeBlackBox("States and transitions", (start) => {
  test("the specification names no states: any item may be replaced by any other, in either direction", async () => {
    const service = await start();
    await service.create(item(ids.one, '"Done":false'));
    for (const done of ["true", "false", '"perhaps"', "null", "1.0"]) {
      expect((await service.send("PUT", "/api/todoitems/", item(ids.one, `"Done":${done}`))).status).toBe(204);
      expect(await service.list()).toBe(`[${item(ids.one, `"Done":${done}`)}]`);
    }
  });

  test("a deleted ID may be created again, and its item is then at the end of the list", async () => {
    const service = await start();
    await service.create(item(ids.one));
    await service.create(item(ids.two));
    await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
    await service.create(item(ids.one, '"Name":"again"'));
    expect(await service.list()).toBe(`[${item(ids.two)},${item(ids.one, '"Name":"again"')}]`);
  });
});
