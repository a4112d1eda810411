import { expect, test } from "bun:test";
import { PostgresCluster } from "../engines/postgres/postgres-cluster.ts";
import { Program, runProgram } from "../program.ts";
import { ids, item } from "../service.ts";

test("an instance picks the one of several hosts that takes writes, and refuses to start with only a standby", async () => {
  const cluster = await PostgresCluster.start();
  const args = (store: string) => ["--port", "0", "--store", store];
  try {
    const { stderr } = await runProgram("serve", { args: args(cluster.standbyUrl) });
    expect(stderr).toContain("the server is a standby, which takes no writes");
    const standbyFirst = cluster.url.replace("@", `@${new URL(cluster.standbyUrl).host},`);
    const program = await Program.start({ args: args(standbyFirst) });
    expect((await program.send("POST", "/api/todoitems/", item(ids.one))).status).toBe(201);
    expect(await program.list()).toBe(`[${item(ids.one)}]`);
    await program.stop();
  } finally {
    await cluster.dispose();
  }
});
