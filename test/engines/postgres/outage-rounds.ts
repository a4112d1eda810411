// Cuts the connections of an engine again and again, at any moment: while it connects, asks, commits or loads. The
// engine must survive each of these outages. `npm test` runs a few dozen. For a long run:
//
//   npx bun test/engines/postgres/outage-rounds.ts 1000

import { StoreError } from "../../../src/collection/engine.ts";
import { parsePostgresUrl } from "../../../src/engines/postgres/postgres-address.ts";
import { PostgresEngine } from "../../../src/engines/postgres/postgres-engine.ts";
import { eventually } from "../../eventually.ts";
import { batchOf } from "../batch-of.ts";
import { readWhole } from "../latest-changes.ts";
import { Wire } from "./held-wire.ts";
import { PostgresServer } from "./postgres-server.ts";

export async function survivedOutages(wire: Wire, url: string, outages: number): Promise<number> {
  const address = parsePostgresUrl(wire.through(url));
  const engine = await PostgresEngine.open(address, { readOnly: false, onOtherHistory() {} });
  let survived = 0;
  while (survived < outages) {
    await eventually(() => commitOne(engine));
    wire.cut();
    // The work has to connect again. Depending on the round, the connection is cut during the log-in or later.
    const chunks = 1 + (Math.floor(survived / 2) % 8);
    const work = unlessStoreFails(() => (survived % 2 === 0 ? engine.hasNews() : commitOne(engine)));
    await Promise.race([work, wire.chunks(chunks)]);
    wire.reset();
    await work;
    survived++;
  }
  await eventually(() => commitOne(engine));
  await engine.close();
  return survived;
}

async function commitOne(engine: PostgresEngine): Promise<void> {
  const since = await engine.state();
  // Loading a list takes another connection, which may be lost, too.
  const { version } = await readWhole(engine);
  await engine.commit(
    batchOf(since, () => {
      const [next, id] = [version + 1, crypto.randomUUID()];
      return [{ version: next, position: next, id, json: "{}", replaces: undefined }];
    }),
  );
}

async function unlessStoreFails(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

if (import.meta.main) {
  const outages = Number(process.argv[2] ?? 1_000);
  const unhandled: unknown[] = [];
  process.on("unhandledRejection", (reason) => unhandled.push(reason));
  const server = await PostgresServer.start();
  const wire = await Wire.to(server.port);
  const survived = await survivedOutages(wire, server.url(), outages);
  wire.close();
  await server.dispose();
  console.log(`${survived} outages survived, ${unhandled.length} unhandled rejections`, ...unhandled.slice(0, 3));
}
