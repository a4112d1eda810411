import { expect, test } from "bun:test";
import { describeBlackBox } from "../black-box.ts";
import { expectProblem } from "../service.ts";

describeBlackBox("Versioning", (start) => {
  test("the paths have the prefix /api and no version segment", async () => {
    const service = await start();
    expect((await service.fetch("GET", "/api/todoitems/")).status).toBe(200);
    for (const path of ["/api/v1/todoitems", "/v1/api/todoitems", "/api/1/todoitems"]) {
      await expectProblem(await service.fetch("GET", path), 404, "RouteNotFound");
    }
  });
});
