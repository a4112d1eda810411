import { expect, test } from "bun:test";
import { describeOnEveryEngine, ids, item } from "../service.ts";

describeOnEveryEngine("Authentication", (start) => {
  test("2. without the setting no operation requires credentials, and none are refused", async () => {
    const service = await start();
    for (const headers of [{}, { Authorization: `Basic ${btoa("anyone:anything")}` }, { Authorization: "nonsense" }]) {
      expect((await service.send("POST", "/api/todoitems/", item(ids.one), headers)).status).toBe(201);
      expect((await service.fetch("GET", "/api/todoitems/", { headers })).status).toBe(200);
      expect((await service.fetch("DELETE", `/api/todoitems/${ids.one}`, { headers })).status).toBe(204);
    }
  });
});
