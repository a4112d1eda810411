// Tests the health checks. test/faults/postgres-outage.long.test.ts tests their answers while the store is unavailable.

import { describe, expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Access } from "../../src/http/access.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import { RateLimiter } from "../../src/http/rate-limiter.ts";
import { expectProblem, Service } from "../service.ts";

describe("health", () => {
  for (const [path, status] of [
    ["/health/live", "live"],
    ["/health/ready", "ready"],
  ] as const) {
    test(`${path} needs no credentials, even if all other paths do, but obeys the rate limit`, async () => {
      const access = new Access({
        mode: "all",
        auth: new BasicAuth(new Map()),
        rate: new RateLimiter({ burst: 5, perSecond: 0.001 }),
      });
      const service = await Service.on(new MemoryEngine(), { access });
      for (let count = 0; count < 5; count++) {
        const response = await service.fetch("GET", path);
        expect(response.status).toBe(200);
        expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
        expect(response.headers.get("cache-control")).toBe("no-store");
        expect(await response.json()).toEqual({ status });
      }
      expect((await service.fetch("GET", "/api/todoitems/")).status).toBe(401);
      await expectProblem(await service.fetch("GET", path), 429, "TooManyRequests");
    });

    test(`${path} offers only GET`, async () => {
      const service = await Service.on(new MemoryEngine());
      for (const method of ["HEAD", "POST", "PUT", "DELETE", "OPTIONS"]) {
        const response = await service.fetch(method, path);
        expect(response.headers.get("allow")).toBe("GET");
        await expectProblem(response, 405, "MethodNotAllowed");
      }
    });
  }

  for (const path of ["/health", "/health/", "/health/other", "/health/live/more"]) {
    test(`${path} matches no route`, async () => {
      const service = await Service.on(new MemoryEngine());
      await expectProblem(await service.fetch("GET", path), 404, "RouteNotFound");
    });
  }
});
