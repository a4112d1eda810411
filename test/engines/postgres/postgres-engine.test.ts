// Tests the PostgreSQL engine against a real server: its start, its queries, its commits beside other instances, and
// the faults that only a server has. A server can refuse, hang, lose an answer or lose commits.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import {
  type Change,
  type PlannedChange,
  pagesOf,
  StoreError,
  type StoreState,
} from "../../../src/collection/engine.ts";
import { type Limits, realLimits } from "../../../src/collection/limits.ts";
import { rootList } from "../../../src/collection/list-key.ts";
import { TodoStore } from "../../../src/collection/todo-store.ts";
import { parsePostgresUrl } from "../../../src/engines/postgres/postgres-address.ts";
import { PostgresEngine } from "../../../src/engines/postgres/postgres-engine.ts";
import { replaceItems } from "../../../src/engines/postgres/postgres-replacement.ts";
import { openPostgresSnapshot } from "../../../src/engines/postgres/postgres-snapshot.ts";
import { eventually } from "../../eventually.ts";
import { ids, item } from "../../service.ts";
import { smallLimits } from "../../small-limits.ts";
import { batchOf, stateAfter } from "../batch-of.ts";
import { latest, liveItems, readWhole } from "../latest-changes.ts";
import { type Pass, Wire } from "./held-wire.ts";
import { survivedOutages } from "./outage-rounds.ts";
import { createPostgresStore, type PostgresTestStore } from "./postgres-store.ts";

let store: PostgresTestStore;
let logged: string[];
const opened: { close(): unknown }[] = [];

beforeEach(async () => {
  store = await createPostgresStore();
  logged = [];
});

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
  await store.dispose();
});

async function open(url = store.url, readOnly = false, limits?: Limits): Promise<PostgresEngine> {
  const engine = await PostgresEngine.open(parsePostgresUrl(url), {
    readOnly,
    limits,
    onOtherHistory: (message) => logged.push(message),
  });
  opened.push(engine);
  return engine;
}

async function connectWire(): Promise<Wire> {
  const wire = await Wire.to(Number(new URL(store.url).port));
  opened.push(wire);
  return wire;
}

async function refusal(url: string, readOnly = false): Promise<string> {
  try {
    await open(url, readOnly);
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError);
    return error instanceof Error ? error.message : "";
  }
  throw new Error("the store was opened");
}

const row = (version: number, json = `{"n":${version}}`): PlannedChange => ({
  version,
  position: version,
  id: `id-${version}`,
  json,
  replaces: undefined,
});

/** A state of the store, and changes of the root list that led to it. */
interface Found extends StoreState {
  readonly changes: readonly Change[];
  /** True if these are all changes of the list, because it had to be loaded. */
  readonly whole: boolean;
}

async function load(engine: PostgresEngine): Promise<Found> {
  const state = await engine.state();
  const { changes } = await readWhole(engine);
  return { ...state, changes, whole: true };
}

async function pull(engine: PostgresEngine, since: StoreState): Promise<Found | undefined> {
  const news = await engine.pull(since);
  return news && { ...news.state, changes: latest(news), whole: false };
}

/** Brings a copy of the store up to date, as the collection does. */
async function catchUp(engine: PostgresEngine, since: StoreState): Promise<Found> {
  return (await pull(engine, since)) ?? load(engine);
}

/**
 * Commits a new row on the newest state, and returns the new state. If the commit cannot continue from `since`, the
 * store is loaded first, as the collection does.
 */
async function commit(engine: PostgresEngine, since: StoreState, json?: string): Promise<StoreState> {
  let state = since;
  const isStored = await engine.commit(
    batchOf(since, (missed) => {
      const { epoch, clock, itemCount, byteCount, listsMark } = missed?.state ?? since;
      const added = row(clock + 1, json);
      state = stateAfter({ epoch, clock, itemCount, byteCount, listsMark }, [added]);
      return [added];
    }),
  );
  return isStored ? state : commit(engine, await load(engine), json);
}

/** Two commits, so that the engine has prepared its statements and knows the store. */
async function warmUp(engine: PostgresEngine): Promise<StoreState> {
  return commit(engine, await commit(engine, await load(engine)));
}

const jsonsOf = (found: Found | undefined) => found?.changes.map(({ json }) => json);
const jsons = async (engine: PostgresEngine) => (await liveItems(engine)).map(({ json }) => json);

/**
 * Lets a commit with the text "mark" reach the server, calls `afterCommit` once it is stored, and then loses the
 * server's answer.
 */
function loseAnswer(wire: Wire, afterCommit: () => Promise<void>): void {
  wire.onceSent("mark", async (pass) => {
    wire.held = true;
    void pass();
    await eventually(async () => {
      const rows = await store.run(`SELECT FROM todoitems.item WHERE json LIKE '%mark%'`);
      expect(rows).toHaveLength(1);
    });
    await afterCommit();
    wire.cut();
    wire.held = false;
  });
}

/** Holds back the query for the state that follows the next pull from `since`. */
function stateQuery(wire: Wire, since: StoreState): Promise<Pass> {
  return new Promise((resolve) => {
    wire.onceSent(since.epoch, (pass) => {
      wire.onceSent("", resolve);
      void pass();
    });
  });
}

/** Until the trigger `disk` is dropped, the server refuses every new row, as if there were no space left. */
async function fillDisk(): Promise<void> {
  await store.run(`
    CREATE FUNCTION todoitems.full() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER disk BEFORE INSERT ON todoitems.item FOR EACH ROW EXECUTE FUNCTION todoitems.full()`);
}

describe("a PostgreSQL store that cannot be used is refused with a helpful message", () => {
  test("a wrong password, which the message does not show", async () => {
    const message = await refusal(store.url.replace(/:[^:@]*@/, ":swordfish@"));
    expect(message).toContain("password authentication failed");
    expect(message).not.toContain("swordfish");
  });

  test("a database that cannot hold every character", async () => {
    await store.run("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
    expect(await refusal(store.url.replace(/[^/]*$/, "latin"))).toContain("has the encoding LATIN1 and needs UTF8");
    await store.run("DROP DATABASE latin");
  });

  test("a server that closes every connection at once, which is not tried again without a pause", async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    expect(await refusal(`postgres://ann@127.0.0.1:${port}/todo`)).toContain("the server closed the connection");
    expect(connections).toBe(1);
    server.close();
  });

  test("a store of another schema, which is left as it was", async () => {
    await open();
    await store.run("UPDATE todoitems.store SET schema_version = 999; DROP FUNCTION todoitems.commit_batch");
    for (const readOnly of [false, true])
      expect(await refusal(store.url, readOnly)).toContain(
        "the store was made by a development version (schema 999, this one has 5); use another database, or drop the schema todoitems",
      );
    expect(await store.run("SELECT schema_version FROM todoitems.store")).toEqual([{ schema_version: 999 }]);
    expect(await store.run("SELECT FROM pg_proc WHERE proname = 'commit_batch'")).toHaveLength(0);
  });

  test("ports on which nothing listens, each of which the message names", async () => {
    const message = await refusal("postgres://ann:secret@127.0.0.1:1,127.0.0.1:2/todo");
    expect(message).toContain("127.0.0.1:1: nothing listens");
    expect(message).toContain("127.0.0.1:2: nothing listens");
  });

  test("a user who may not create tables, until it gets that right", async () => {
    const { database } = parsePostgresUrl(store.url);
    await store.run("CREATE ROLE plain LOGIN PASSWORD 'p'");
    const url = store.url.replace(/\/\/.*@/, "//plain:p@");
    expect(await refusal(url)).toContain("permission denied for database");
    await store.run(`GRANT CREATE ON DATABASE ${database} TO plain`);
    const engine = await open(url);
    await warmUp(engine);
    expect(await jsons(engine)).toHaveLength(2);
    await store.run("DROP OWNED BY plain; DROP ROLE plain");
  });
});

describe("starting on PostgreSQL", () => {
  test("many instances that start at once on an empty database create one store", async () => {
    const engines = await Promise.all(Array.from({ length: 8 }, () => open()));
    const epochs = await Promise.all(engines.map(async (engine) => (await engine.state()).epoch));
    expect(new Set(epochs).size).toBe(1);
  });

  test("a host that does not answer is skipped for one that does", async () => {
    const engine = await open(store.url.replace("@", "@127.0.0.1:1,"));
    await warmUp(engine);
    expect(await jsons(engine)).toHaveLength(2);
  });

  test("a read-only instance needs only the right to read", async () => {
    await warmUp(await open());
    await store.run("CREATE ROLE reader LOGIN PASSWORD 'p'; GRANT USAGE ON SCHEMA todoitems TO reader");
    await store.run("GRANT SELECT ON ALL TABLES IN SCHEMA todoitems TO reader");
    const engine = await open(store.url.replace(/\/\/.*@/, "//reader:p@"), true);
    expect(jsonsOf(await load(engine))).toHaveLength(2);
    expect(await engine.names("")).toMatchObject({ listsMark: 0 });
    expect(await engine.hasNews()).toBe(false);
    await store.run("DROP OWNED BY reader; DROP ROLE reader");
  });

  test("a read-only instance makes no tables, and says what is missing", async () => {
    expect(await refusal(store.url, true)).toContain("this database has no todoitems store");
    expect(await store.run("SELECT FROM pg_namespace WHERE nspname = 'todoitems'")).toHaveLength(0);
  });

  // Each of these settings of the database would make commits unsafe or slow.
  for (const [setting, theirs, ours] of [
    ["synchronous_commit", "off", "on"],
    ["jit", "on", "off"],
    ["default_transaction_isolation", "'repeatable read'", "read committed"],
  ] as const)
    test(`commits run with ${setting} ${ours}, even if the database's default is ${theirs}`, async () => {
      const { database } = parsePostgresUrl(store.url);
      await store.run(`ALTER DATABASE ${database} SET ${setting} = ${theirs}`);
      const engine = await open();
      await store.run(`
        CREATE TABLE todoitems.seen (setting text);
        CREATE FUNCTION todoitems.see() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN INSERT INTO todoitems.seen VALUES (current_setting('${setting}')); RETURN NEW; END $$;
        CREATE TRIGGER see AFTER INSERT ON todoitems.item FOR EACH ROW EXECUTE FUNCTION todoitems.see()`);
      const since = await commit(engine, await load(engine));
      // The setting must also hold for every later connection.
      await store.disconnectAll();
      await commit(engine, since);
      expect(await store.run("SELECT setting FROM todoitems.seen")).toEqual([{ setting: ours }, { setting: ours }]);
      await store.run(`ALTER DATABASE ${database} RESET ${setting}`);
    });
});

describe("queries to PostgreSQL", () => {
  test("a commit takes one round trip, whatever the size of the batch, and three if it must be decided again", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const other = await open();
    let here = await warmUp(other);
    const commitMany = async (size: number): Promise<number> => {
      wire.roundTrips = 0;
      await engine.commit(
        batchOf(here, (missed) => {
          const before = missed?.state ?? here;
          here = { ...before, clock: before.clock + size };
          return Array.from({ length: size }, (_, index) => row(before.clock + 1 + index));
        }),
      );
      return wire.roundTrips;
    };
    // Each of these batches fits into one chunk. If there were two chunks, an answer between them would count as a
    // second round trip.
    for (const size of [1, 20]) {
      // These commits make the engine prepare its statements, and show it that nobody else commits now. So the next
      // commit does not lock the clock first, which would take another round trip.
      for (let count = 0; count < 3; count++) await commitMany(1);
      expect(await commitMany(size)).toBe(1);
      const elsewhere = await commit(other, here);
      expect(await commitMany(size)).toBe(3);
      expect(here.clock).toBe(elsewhere.clock + size);
    }
    expect(await jsons(engine)).toHaveLength(here.clock);
  });

  test("a hundred readers that arrive together send one query", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    await load(engine);
    await engine.hasNews();
    wire.roundTrips = 0;
    await Promise.all(Array.from({ length: 100 }, () => engine.hasNews()));
    expect(wire.roundTrips).toBe(1);
  });

  test("a reader that arrives while a query is under way does not use its answer, which may be too old", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const other = await open();
    const start = await load(engine);
    await engine.hasNews();
    wire.held = true;
    const early = engine.hasNews();
    // The server has answered the early query, and the answer is on its way.
    await wire.heldSomething();
    await commit(other, start);
    const late = engine.hasNews();
    wire.release();
    expect(await early).toBe(false);
    expect(await late).toBe(true);
  });

  test("a whole list is read as of one moment, even while others commit", async () => {
    const [engine, other] = [await open(), await open()];
    let here: StoreState = await load(other);
    let writing = true;
    const writer = (async () => {
      while (writing) here = await commit(other, here);
    })();
    for (let count = 0; count < 100; count++) {
      const { version, changes } = await readWhole(engine);
      expect(changes).toHaveLength(version);
    }
    writing = false;
    await writer;
  });

  test("what is remembered of a change does not keep its item in memory", async () => {
    await open();
    await store.run(
      `INSERT INTO todoitems.item SELECT 0, n, n, n, 'an ID with ' || n, repeat('x', 1000000) FROM generate_series(1, 100) AS n`,
    );
    const engine = await open(store.url, false, { ...realLimits, rowsInPage: 5 });
    const ids: string[] = [];
    const residentBefore = process.memoryUsage().rss;
    for await (const { rows } of pagesOf(rootList, (...args) => engine.load(...args)))
      ids.push(...rows.map(({ id }) => id));
    await eventually(() => {
      Bun.gc(true);
      expect(process.memoryUsage().rss - residentBefore).toBeLessThan(50_000_000);
    });
    expect(ids).toHaveLength(100);
  });

  test("a short list is read in one round trip, on a connection that is kept", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    await warmUp(engine);
    await engine.load(rootList);
    const { connections } = wire;
    wire.roundTrips = 0;
    for (const list of [rootList, "nowhere"]) await engine.load(list);
    expect(wire.roundTrips).toBe(2);
    expect(wire.connections).toBe(connections);
  });

  test("a long list is read page by page, also if its connection is lost between two pages", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    await store.run(manyRows(2_500));
    const sizes: number[] = [];
    const load: PostgresEngine["load"] = (list, previous) => engine.load(list, previous);
    for await (const { rows } of pagesOf(rootList, load)) sizes.push(rows.length);
    expect(sizes).toEqual([1_000, 1_000, 500]);
    const page = await engine.load(rootList);
    wire.cut();
    expect((await engine.load(rootList, page)).rows.map(({ version }) => version)).toContain(2_000);
  });

  test("a list that others change while its pages are read is read as it is at the end", async () => {
    const other = await open();
    let state = await other.state();
    const commitAll = async (...changes: PlannedChange[]) => {
      expect(await other.commit(batchOf(state, () => changes))).toBe(true);
      state = stateAfter(state, changes);
    };
    const rows = Array.from({ length: 5 }, (_, index) => row(1 + index));
    await commitAll(...rows);
    const [one, two, , , five] = rows as [PlannedChange, PlannedChange, PlannedChange, PlannedChange, PlannedChange];
    const engine = await open(store.url, false, smallLimits);
    let isChanged = false;
    const { changes, version, storeEpoch } = await readWhole(engine, rootList, async () => {
      if (isChanged) return;
      isChanged = true;
      await commitAll({ ...one, version: 6, json: '{"n":6}', replaces: 1 }, { ...five, version: 7, replaces: 5 });
      await commitAll({ ...two, version: 8, json: null, replaces: 2 }, row(9));
    });
    expect([version, storeEpoch]).toEqual([9, state.epoch]);
    expect(changes.map(({ position, version }) => [position, version])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
      [1, 6],
      [5, 7],
      [2, 8],
      [9, 9],
    ]);
  });

  test("pages of a list do not fit together if a tombstone between them was dropped, or the store was replaced", async () => {
    const dropped = (version: number) =>
      `UPDATE todoitems.list SET pruned = 2000; UPDATE todoitems.store SET pruned_through = ${version}`;
    for (const [change, fits] of [
      // The store was at version 5000 when the first page was read. What was deleted before is on no page.
      [dropped(5_000), true],
      [dropped(5_001), false],
      ["UPDATE todoitems.store SET epoch = 'another'", false],
    ] as const) {
      const engine = await open();
      await store.run("UPDATE todoitems.store SET version = 5000, pruned_through = 0");
      const { epoch } = await engine.state();
      await store.run(`DELETE FROM todoitems.item; UPDATE todoitems.list SET pruned = 500; ${manyRows(2_500)}`);
      const first = await engine.load(rootList);
      const second = await engine.load(rootList, first);
      expect([first.storeEpoch, second.storeEpoch]).toEqual([epoch, epoch]);
      await store.run(`UPDATE todoitems.store SET version = 6000; ${change}`);
      expect((await engine.load(rootList, first)).storeEpoch).toBe(fits ? epoch : "");
      if (fits) expect((await engine.load(rootList, second)).storeEpoch).toBe(epoch);
    }
  });

  test("pulling one change reads a few rows of a large store, not all of them", async () => {
    const start = await (await open()).state();
    await store.run(`
      ${manyRows(200_000)};
      INSERT INTO todoitems.history VALUES (200000, 'many');
      UPDATE todoitems.store SET version = 200000, batch = 'many'`);
    const before = await rowsRead();
    const [engine, other] = [await open(), await open()];
    let since: StoreState = { ...start, clock: 200_000 };
    for (let count = 0; count < 20; count++) {
      since = await commit(other, since);
      expect(jsonsOf(await pull(engine, { ...since, clock: since.clock - 1 }))).toHaveLength(1);
    }
    // The server counts the rows that a connection has read only when the connection ends, so end both connections.
    await Promise.all([engine.close(), other.close()]);
    await eventually(async () => expect(await rowsRead()).toBeGreaterThan(before));
    expect((await rowsRead()) - before).toBeLessThan(1_000);
  });

  /** SQL that puts items into the root list. */
  function manyRows(count: number): string {
    return `INSERT INTO todoitems.item SELECT 0, n, n, n, 'id-' || n, '{}' FROM generate_series(1, ${count}) AS n`;
  }

  async function rowsRead(): Promise<number> {
    const [counts] = await store.run(
      "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) AS count FROM pg_stat_user_tables WHERE relname = 'item'",
    );
    return Number(counts?.["count"]);
  }
});

describe("a batch that was decided before others committed", () => {
  const mine = (version: number): PlannedChange => ({ ...row(version, '{"mark":true}'), id: "mine" });

  /** For each decision, how many changes by others it had to consider. Undefined if the commit could not continue. */
  async function decisions(
    engine: PostgresEngine,
    since: StoreState,
    plan: (version: number) => PlannedChange[],
  ): Promise<number[] | undefined> {
    const missed: number[] = [];
    const isStored = await engine.commit(
      batchOf(since, (news) => {
        missed.push(latest(news).length);
        return plan((news?.state ?? since).clock);
      }),
    );
    return isStored ? missed : undefined;
  }

  /** Each row as version, position and ID, in the order of the list. */
  async function rows(): Promise<string[]> {
    const stored = await store.run("SELECT number AS version, position, id FROM todoitems.item ORDER BY position");
    return stored.map(({ version, position, id }) => `${version} ${position} ${id}`);
  }

  /** An engine that knows two items, and another that has just created a third. */
  async function outdated(): Promise<{ engine: PostgresEngine; other: PostgresEngine; since: StoreState }> {
    const engine = await open();
    const since = await warmUp(engine);
    const other = await open();
    await commit(other, await load(other));
    return { engine, other, since };
  }

  test("is not stored as it is, but decided again on the newest state", async () => {
    const { engine, since } = await outdated();
    expect(await decisions(engine, since, (at) => [mine(at + 1)])).toEqual([0, 1]);
    expect(await rows()).toEqual(["1 1 id-1", "2 2 id-2", "3 3 id-3", "4 4 mine"]);
    expect(await engine.hasNews()).toBe(false);
  });

  test("is decided again if it changes nothing, because only the newest state can confirm that", async () => {
    const { engine, since } = await outdated();
    expect(await decisions(engine, since, () => [])).toEqual([0, 1]);
  });

  for (const [what, change] of [
    ["another batch has led to the version that it was decided on", "UPDATE todoitems.store SET batch = 'other'"],
    ["the store has another epoch", "UPDATE todoitems.store SET epoch = 'fedcba9876543210'"],
    ["the store has another version", "UPDATE todoitems.store SET version = 3"],
  ] as const)
    test(`stores nothing if ${what}`, async () => {
      const engine = await open();
      const since = await warmUp(engine);
      await store.run(change);
      await store.run("UPDATE todoitems.history SET batch = 'other' WHERE version = 2");
      expect(await decisions(engine, since, (at) => [mine(at + 1)])).toBeUndefined();
      expect(await rows()).toEqual(["1 1 id-1", "2 2 id-2"]);
    });

  test("stores nothing if they have pruned what it missed, so that the store must be loaded", async () => {
    const { engine, since } = await outdated();
    await store.run("UPDATE todoitems.store SET pruned_through = 3");
    expect(await decisions(engine, since, (at) => [mine(at + 1)])).toBeUndefined();
    expect(await rows()).toEqual(["1 1 id-1", "2 2 id-2", "3 3 id-3"]);
    expect(await decisions(engine, await load(engine), (at) => [mine(at + 1)])).toEqual([0]);
  });

  test("stores nothing if it reaches the server only after it was decided again and stored", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const since = await warmUp(engine);
    const late = Promise.withResolvers<Pass>();
    wire.onceSent("mark", (pass) => {
      late.resolve(pass);
      wire.abandon();
    });
    await decisions(engine, since, (at) => [mine(at + 1)]);
    await (await late.promise)();
    expect(await rows()).toEqual(["1 1 id-1", "2 2 id-2", "3 3 mine"]);
  });

  test("stores nothing if it reaches the server only after its second plan was refused", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const since = await warmUp(engine);
    const late = Promise.withResolvers<Pass>();
    wire.onceSent("mark", async (pass) => {
      await fillDisk();
      late.resolve(pass);
      wire.abandon();
    });
    await expect(decisions(engine, since, (at) => [mine(at + 1)])).rejects.toThrow("No space left on device");
    await store.run("DROP TRIGGER disk ON todoitems.item");
    await (await late.promise)();
    expect(await rows()).toEqual(["1 1 id-1", "2 2 id-2"]);
    await decisions(engine, since, (at) => [row(at + 1)]);
    expect(await rows()).toEqual(["1 1 id-1", "2 2 id-2", "3 3 id-3"]);
  });

  test("is not stored twice if it reaches the server only after its second plan was lost too", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const since = await warmUp(engine);
    wire.onceSent("mark", (passFirst) => {
      wire.onceSent("mark", () => {
        wire.cut();
        void passFirst();
      });
      wire.abandon();
    });
    await decisions(engine, since, (at) => [mine(at + 1)]);
    expect(await rows()).toEqual(["1 1 id-1", "2 2 id-2", "3 3 mine"]);
  });

  test("is followed by commits that lock the clock at once, as long as others keep committing", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const other = await open();
    let since = await warmUp(engine);
    // The first commit takes more round trips. It first tries to store its changes in one round trip, which fails. It
    // also has statements to prepare.
    for (const roundTrips of [4, 2, 2]) {
      const elsewhere = await commit(other, await load(other));
      wire.roundTrips = 0;
      await decisions(engine, since, (at) => [row(at + 1)]);
      expect(wire.roundTrips).toBe(roundTrips);
      since = { ...elsewhere, clock: elsewhere.clock + 1 };
    }
    // The first of these commits still locks the clock first, which takes two round trips. It finds that nobody else
    // commits any more. So the second commit is optimistic and takes one round trip.
    for (const roundTrips of [2, 1]) {
      wire.roundTrips = 0;
      await decisions(engine, since, (at) => [row(at + 1)]);
      expect(wire.roundTrips).toBe(roundTrips);
      since = { ...since, clock: since.clock + 1 };
    }
  });

  test("that waits for the lock also gets the writes that arrive meanwhile", async () => {
    const { engine, since } = await outdated();
    const writes = [1];
    const held = await store.hold("SELECT FROM todoitems.store FOR UPDATE");
    const committing = engine.commit(
      batchOf(since, (news) => writes.map((_, index) => row((news?.state ?? since).clock + 1 + index))),
    );
    await eventually(async () => {
      const waiting = await store.run("SELECT FROM pg_locks WHERE NOT granted");
      expect(waiting.length).toBeGreaterThan(0);
    });
    writes.push(2);
    await held.release();
    expect(await committing).toBe(true);
    expect(await rows()).toHaveLength(5);
  });
});

describe("lists in PostgreSQL", () => {
  /** Commits one change to a list, which says whether the list has items afterwards. */
  async function commitTo(
    engine: PostgresEngine,
    list: string,
    since: StoreState,
    change: PlannedChange,
    hasItems?: boolean,
  ): Promise<StoreState> {
    const { lists, state } = batchOf(since, () => [change], list).decide(undefined);
    const plan = { state, lists: lists.map((planned) => ({ ...planned, hasItems })) };
    expect(await engine.commit({ since, decide: () => plan })).toBe(true);
    return state;
  }

  test("an item has one row, and a list gets a row with its first change", async () => {
    const engine = await open();
    let state = await engine.state();
    for (let version = 1; version <= 3; version++) {
      const replaces = version === 1 ? undefined : version - 1;
      state = await commitTo(engine, "work", state, { ...row(1), version, replaces }, version === 1 ? true : undefined);
    }
    expect(await store.run("SELECT position, number, version FROM todoitems.item")).toMatchObject([
      { position: "1", number: "3", version: "3" },
    ]);
    expect(await store.run("SELECT key, name, has_items FROM todoitems.list ORDER BY key")).toMatchObject([
      { key: 0, name: "", has_items: false },
      { key: 1, name: "work", has_items: true },
    ]);
  });

  test("a list that has to be loaded again ends the commit at once, and neither the connection nor the clock is lost", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const other = await open();
    const since = await warmUp(engine);
    const { connections } = wire;
    let decisions = 0;
    const decide = () => {
      decisions++;
      return undefined;
    };
    for (const start of [since, { ...since, clock: 1 }])
      expect(await engine.commit({ since: start, decide })).toBe(false);
    expect(decisions).toBeGreaterThan(1);
    expect(await store.run("SELECT FROM pg_locks WHERE relation = 'todoitems.store'::regclass")).toHaveLength(0);
    await commit(other, since);
    await commit(engine, since);
    expect(wire.connections).toBe(connections);
  });

  test("a restored store has the lists, the names and the counts that commits would have given it", async () => {
    const address = parsePostgresUrl(store.url);
    const written = await TodoStore.open(await open());
    const lists = ["\nbob", "home\nbob", "work\nann"];
    for (const list of lists)
      for (const id of [ids.one, ids.two])
        await written.list(list).write({ kind: "create", item: { id, json: item(id) } });
    await written
      .list("home\nbob")
      .write({ kind: "update", item: { id: ids.one, json: item(ids.one) }, condition: undefined });
    await written.list("home\nbob").write({ kind: "delete", id: ids.two, condition: undefined });
    const snapshot = await openPostgresSnapshot(address);
    const items = await Array.fromAsync(snapshot.items());
    await snapshot.close();
    const shown = async (opened: TodoStore) => {
      const texts: unknown[] = [await opened.names("bob"), await opened.names("ann")];
      for (const list of lists) {
        await opened.list(list).refresh();
        texts.push(
          Array.from(opened.list(list).items(), ({ version, position, json }) => ({ version, position, json })),
        );
      }
      const { itemCount, byteCount } = opened.state;
      return { texts, itemCount, byteCount };
    };
    const before = await shown(written);
    const found: unknown[] = [];
    await replaceItems(address, {
      mayReplace: (count) => expect(count).toBe(items.length),
      items: (async function* () {
        yield* items;
      })(),
      // The batches do not end with a list.
      limits: smallLimits,
      verify: async (stored) => void found.push(...(await Array.fromAsync(stored))),
    });
    expect(found).toEqual(items.map((item) => ({ ...item, key: expect.any(Number) })));
    expect(await shown(written)).toEqual(before);
    expect(await shown(await TodoStore.open(await open()))).toEqual(before);
  });

  test("a list or names that were read at a point which is lost later are noticed", async () => {
    for (const read of [
      (engine: PostgresEngine) => engine.load(rootList),
      (engine: PostgresEngine) => engine.names(""),
    ]) {
      const [engine, other] = [await open(), await open()];
      const since = await warmUp(other);
      await engine.state();
      await store.backup();
      await commit(other, since, '{"lost":true}');
      // The engine's own state is that of the backup. So without the list, it would notice nothing.
      await read(engine);
      await store.restore();
      expect(await engine.hasNews()).toBe(true);
      expect(await engine.commit(batchOf(since, () => [row(3)]))).toBe(false);
      expect(await engine.pull(since)).toBeUndefined();
      expect((await engine.state()).epoch).not.toBe(since.epoch);
      expect(await engine.hasNews()).toBe(false);
      await store.run("DROP SCHEMA todoitems CASCADE");
    }
  });

  test("a list that is read after the store was rolled back is not taken for a list of the known history", async () => {
    const engine = await open();
    const since = await warmUp(engine);
    await store.backup();
    await commit(engine, since, '{"lost":true}');
    await store.restore();
    expect((await engine.load(rootList)).storeEpoch).not.toBe(since.epoch);
  });
});

describe("a commit whose connection is lost", () => {
  test("is found and not repeated if it had happened", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const since = await warmUp(engine);
    loseAnswer(wire, async () => {});
    await commit(engine, since, '{"mark":true}');
    expect(await jsons(engine)).toEqual(['{"n":1}', '{"n":2}', '{"mark":true}']);
    expect((await load(engine)).clock).toBe(3);
    expect(await engine.hasNews()).toBe(false);
  });

  test("is found if it had happened, even if others have committed since", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const other = await open();
    const since = await warmUp(engine);
    loseAnswer(wire, async () => {
      const here = await load(other);
      await other.commit(batchOf(here, () => [{ ...row(4, '{"n":4}'), position: 3, id: "id-3", replaces: 3 }]));
    });
    let plans = 0;
    const isStored = await engine.commit(
      batchOf(since, () => {
        plans++;
        return [row(3, '{"mark":true}')];
      }),
    );
    expect([isStored, plans]).toEqual([true, 1]);
    expect(await engine.hasNews()).toBe(true);
    expect(jsonsOf(await pull(engine, { ...since, clock: 3 }))).toEqual(['{"n":4}']);
    expect(await engine.hasNews()).toBe(false);
  });

  test("is repeated if the server had not received it, and takes into account what others have committed since", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const other = await open();
    const since = await warmUp(engine);
    const here = await load(other);
    wire.onceSent("mark", async () => {
      wire.refusing = true;
      wire.cut();
      await commit(other, here);
      wire.refusing = false;
    });
    const missed: number[] = [];
    await engine.commit(
      batchOf(since, (news) => {
        missed.push(latest(news).length);
        return [row((news?.state ?? since).clock + 1, '{"mark":true}')];
      }),
    );
    expect(missed.at(-1)).toBe(1);
    expect(await jsons(other)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}', '{"mark":true}']);
  });

  test("does not count as failed if the server refuses the query that looks for it", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const since = await warmUp(engine);
    const { database } = parsePostgresUrl(store.url);
    // The new timeout applies only to new connections, on which the engine looks for its commit. The commit itself is
    // sent on an older connection, so it does not time out, even if the machine is busy.
    await store.run(`ALTER DATABASE ${database} SET statement_timeout = '500ms'`);
    const holding = Promise.withResolvers<Awaited<ReturnType<typeof store.hold>>>();
    loseAnswer(wire, async () => holding.resolve(await store.hold("SELECT FROM todoitems.store FOR UPDATE")));
    const committing = commit(engine, since, '{"mark":true}');
    const held = await holding.promise;
    // After each refusal the engine connects again, so the third new connection means that it was refused twice.
    const before = wire.connections;
    await eventually(async () => expect(wire.connections).toBeGreaterThanOrEqual(before + 3));
    await held.release();
    expect(await committing).toMatchObject({ clock: 3 });
    expect(await jsons(engine)).toEqual(['{"n":1}', '{"n":2}', '{"mark":true}']);
    await store.run(`ALTER DATABASE ${database} RESET statement_timeout`);
  });

  test("is reported as undecided while the store stays unavailable, and is seen once the store is back", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const since = await warmUp(engine);
    const gone = Promise.withResolvers<void>();
    loseAnswer(wire, async () => {
      wire.refusing = true;
      gone.resolve();
    });
    const error = await commit(engine, since, '{"mark":true}').catch((failure: unknown) => failure);
    await gone.promise;
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ undecided: true });
    wire.refusing = false;
    await eventually(async () => expect(jsonsOf(await pull(engine, since))).toHaveLength(1));
  });
});

describe("a server that refuses", () => {
  test("stores nothing of a commit that exceeds its statement_timeout, and takes the next commit", async () => {
    const { database } = parsePostgresUrl(store.url);
    await store.run(`ALTER DATABASE ${database} SET statement_timeout = '1s'`);
    const engine = await open();
    const since = await warmUp(engine);
    const held = await store.hold("SELECT FROM todoitems.store FOR UPDATE");
    await expect(commit(engine, since)).rejects.toThrow("canceling statement due to statement timeout");
    await commit(engine, since).catch((error: unknown) => expect(error).toMatchObject({ undecided: false }));
    await held.release();
    await store.run(`ALTER DATABASE ${database} RESET statement_timeout`);
    await commit(engine, since);
    expect(await jsons(engine)).toHaveLength(3);
  });

  test("stores nothing while its disk is full, still answers reads, and takes the next commit after that", async () => {
    const engine = await open();
    const since = await warmUp(engine);
    await fillDisk();
    await expect(commit(engine, since)).rejects.toThrow("No space left on device");
    expect(await jsons(engine)).toHaveLength(2);
    expect(await engine.hasNews()).toBe(false);
    await store.run("DROP TRIGGER disk ON todoitems.item");
    await commit(engine, since);
    expect(await jsons(engine)).toHaveLength(3);
  });

  test("is not trusted to know the newest state after it has become a standby", async () => {
    const { database } = parsePostgresUrl(store.url);
    // The new function hides the server's own `pg_is_in_recovery`. It imitates a connection pooler that moves the
    // session to a standby.
    await store.run(`
      CREATE TABLE public.role (standby boolean);
      INSERT INTO public.role VALUES (false);
      CREATE FUNCTION public.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT standby FROM public.role';
      ALTER DATABASE ${database} SET search_path = public, pg_catalog`);
    const engine = await open();
    const since = await warmUp(engine);
    await store.run("UPDATE public.role SET standby = true");
    await expect(engine.hasNews()).rejects.toThrow("the server is a standby");
    await expect(engine.pull(since)).rejects.toThrow("the server is a standby");
    await store.run("UPDATE public.role SET standby = false");
    await eventually(async () => expect(await engine.hasNews()).toBe(false));
    await store.run(`
      ALTER DATABASE ${database} RESET search_path;
      DROP FUNCTION public.pg_is_in_recovery();
      DROP TABLE public.role`);
  });
});

describe("a connection that is lost", () => {
  test("while it is idle is replaced without an error", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const since = await warmUp(engine);
    await engine.hasNews();
    wire.cut();
    expect(await Promise.all([engine.hasNews(), commit(engine, since)])).toMatchObject([false, { clock: 3 }]);
  });

  test("is tried again only after a pause while no server can be reached", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    wire.refusing = true;
    wire.cut();
    wire.connections = 0;
    for (let count = 0; count < 300; count++) await expect(engine.hasNews()).rejects.toThrow(StoreError);
    expect(wire.connections).toBeLessThan(50);
    wire.refusing = false;
    await eventually(async () => expect(await engine.hasNews()).toBeBoolean());
  });
});

describe("a server that has stopped answering", () => {
  /** Returns the error of the call. If the call succeeds, or takes over four seconds, returns a text that says so. */
  async function failsSoon(call: Promise<unknown>): Promise<unknown> {
    const failure = call.then(
      () => "an answer",
      (error: unknown) => error,
    );
    return Promise.race([failure, Bun.sleep(4_000).then(() => "no answer yet")]);
  }

  test("makes readers fail within seconds, including one that arrives while the others wait", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    await warmUp(engine);
    await engine.hasNews();
    wire.held = true;
    const early = failsSoon(engine.hasNews());
    await wire.heldSomething();
    const late = failsSoon(engine.hasNews());
    expect(await early).toBeInstanceOf(StoreError);
    expect(await late).toBeInstanceOf(StoreError);
    wire.cut();
    wire.held = false;
    await eventually(async () => expect(await engine.hasNews()).toBe(false));
  });

  test("makes a pull fail within seconds", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const since = await warmUp(engine);
    wire.held = true;
    expect(await failsSoon(engine.pull(since))).toBeInstanceOf(StoreError);
    wire.cut();
    wire.held = false;
    await eventually(async () => expect(await pull(engine, since)).toMatchObject({ changes: [], clock: 2 }));
  });

  test("is told apart from one that sends rows slowly, so that the pull does not fail", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const since = await warmUp(engine);
    await commit(await open(), since, JSON.stringify("x".repeat(2_000_000)));
    await load(engine);
    await engine.pull(since);
    const connections = wire.connections;
    const pulling = pull(engine, since);
    // The first chunk has the clock: the row with the store's current version. The rest arrives only after the time
    // limit for a question has passed.
    await wire.chunks(1);
    wire.held = true;
    await Bun.sleep(2_500);
    wire.release();
    expect(jsonsOf(await pulling)).toHaveLength(1);
    expect(wire.connections).toBe(connections);
  });
});

describe("outages", () => {
  test("leave no unhandled rejection, at whatever moment the connections are cut", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      expect(await survivedOutages(await connectWire(), store.url, 60)).toBe(60);
    } finally {
      process.off("unhandledRejection", note);
    }
    expect(unhandled).toEqual([]);
  });
});

describe("a store whose history was cut", () => {
  test("by a restored backup is loaded again under a new epoch, and the operator is notified", async () => {
    const engine = await open();
    const since = await warmUp(engine);
    await store.backup();
    const lost = await commit(engine, since, '{"lost":true}');
    await store.restore();
    expect(await engine.hasNews()).toBe(true);
    const news = await catchUp(engine, lost);
    expect(news).toMatchObject({ whole: true, clock: 2 });
    expect(news.epoch).not.toBe(since.epoch);
    expect(jsonsOf(news)).toEqual(['{"n":1}', '{"n":2}']);
    expect(logged.join()).toContain("another history");
    expect(await engine.hasNews()).toBe(false);
  });

  test("is noticed even if others have since committed past the version that was known", async () => {
    const engine = await open();
    const other = await open();
    const since = await warmUp(engine);
    await store.backup();
    const lost = await commit(engine, since, '{"lost":true}');
    await store.restore();
    let here: StoreState = await load(other);
    for (let count = 0; count < 3; count++) here = await commit(other, here);
    expect(here.clock).toBeGreaterThan(lost.clock);
    const news = await catchUp(engine, lost);
    expect(news.whole).toBe(true);
    const found = jsonsOf(news);
    expect(found).not.toContain('{"lost":true}');
    expect(found).toHaveLength(5);
    // The other instance also notices the new epoch (the name of the store's history).
    expect(await other.hasNews()).toBe(true);
    expect((await catchUp(other, here)).epoch).toBe(news.epoch);
  });

  /** An engine that knows a commit. The store has since lost that commit, and has others in its place. */
  async function cutBelow({ readOnly = false, otherCommits = 3 } = {}): Promise<{
    engine: PostgresEngine;
    older: StoreState;
    lost: StoreState;
  }> {
    const other = await open();
    const older = await warmUp(other);
    await store.backup();
    const lost = await commit(other, older, '{"lost":true}');
    const engine = await open(store.url, readOnly);
    expect(await load(engine)).toMatchObject(lost);
    await store.restore();
    const another = await open();
    let here: StoreState = await load(another);
    for (let count = 0; count < otherCommits; count++) here = await commit(another, here);
    return { engine, older, lost };
  }

  test("is noticed by a pull from an older bookmark that is still in the history", async () => {
    const { engine, older, lost } = await cutBelow();
    const news = await catchUp(engine, older);
    expect(news.whole).toBe(true);
    expect(news.epoch).not.toBe(lost.epoch);
    const own = await catchUp(engine, lost);
    expect(own).toMatchObject({ whole: true, epoch: news.epoch });
    expect(jsonsOf(own)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}', '{"n":5}']);
    expect(await engine.hasNews()).toBe(false);
  });

  test("is noticed by a commit that was decided on an older state than the engine knows", async () => {
    const { engine, older, lost } = await cutBelow();
    await commit(engine, older, '{"after":true}');
    const news = await catchUp(engine, lost);
    expect(news.whole).toBe(true);
    expect(news.epoch).not.toBe(lost.epoch);
    expect(jsonsOf(news)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}', '{"n":5}', '{"after":true}']);
  });

  for (const [means, notice] of [
    ["a pull", (engine: PostgresEngine, since: StoreState) => catchUp(engine, since)],
    ["a commit", (engine: PostgresEngine, since: StoreState) => commit(engine, since)],
  ] as const) {
    test(`is noticed by ${means} that starts from an older epoch than the engine knows`, async () => {
      const engine = await open();
      const other = await open();
      const start = await warmUp(engine);
      await store.run("UPDATE todoitems.store SET epoch = 'fedcba9876543210'");
      const older = await load(other);
      await store.backup();
      const lost = await commit(other, older, '{"lost":true}');
      expect(await catchUp(engine, start)).toMatchObject(lost);
      await store.restore();
      await notice(engine, start);
      const [clock] = await store.run("SELECT epoch FROM todoitems.store");
      expect([start.epoch, lost.epoch]).not.toContain(clock?.["epoch"]);
      const news = await catchUp(engine, lost);
      expect(news).toMatchObject({ whole: true, epoch: clock?.["epoch"] });
      expect(jsonsOf(news)).not.toContain('{"lost":true}');
    });
  }

  test("is noticed by a commit that has locked the clock, if a pull saw the lost commit after the commit began", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const other = await open();
    const since = await warmUp(other);
    const start = await load(engine);
    await catchUp(engine, since);
    await store.backup();
    const locking = Promise.withResolvers<Pass>();
    wire.onceSent("for update", locking.resolve);
    // This batch does not begin at the version that the engine knows. So the engine locks the clock, the row with the
    // store's version.
    const committing = engine.commit(
      batchOf({ ...since, clock: 1 }, (news) => {
        const { clock } = news?.state ?? since;
        return [row(clock + 1, '{"after":1}'), row(clock + 2, '{"after":2}')];
      }),
    );
    const pass = await locking.promise;
    const lost = await commit(other, since, '{"lost":true}');
    expect(await catchUp(engine, since)).toMatchObject(lost);
    await store.restore();
    await pass();
    expect(await committing).toBe(false);
    const news = await catchUp(engine, lost);
    expect(news.whole).toBe(true);
    expect(news.epoch).not.toBe(start.epoch);
    expect(jsonsOf(news)).toEqual(['{"n":1}', '{"n":2}']);
  });

  test("is noticed even if the answer to a commit in an older epoch arrives after the engine has loaded a newer one", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const since = await warmUp(engine);
    const committing = Promise.withResolvers<Pass>();
    wire.onceSent("mark", committing.resolve);
    const committed = commit(engine, since, '{"mark":true}');
    const pass = await committing.promise;
    await store.run("UPDATE todoitems.store SET epoch = 'fedcba9876543210'");
    const newer = await catchUp(engine, since);
    await store.run(`UPDATE todoitems.store SET epoch = '${since.epoch}'`);
    await pass();
    await committed;
    await store.run("UPDATE todoitems.store SET epoch = 'fedcba9876543210'");
    await store.run("UPDATE todoitems.history SET batch = 'other' WHERE version = 2");
    const news = await catchUp(engine, newer);
    expect(news.whole).toBe(true);
    expect([since.epoch, newer.epoch]).not.toContain(news.epoch);
  });

  for (const otherCommits of [1, 3]) {
    test(`is noticed by a read-only instance (commits in place of the lost one: ${otherCommits})`, async () => {
      const { engine, lost } = await cutBelow({ readOnly: true, otherCommits });
      expect(await engine.hasNews()).toBe(true);
      const news = await catchUp(engine, lost);
      expect(news).toMatchObject({ whole: true, epoch: lost.epoch });
      expect(jsonsOf(news)).not.toContain('{"lost":true}');
      expect(await engine.hasNews()).toBe(false);
    });
  }

  test("is noticed by a pull that was overtaken by a commit, if the cut removed that commit", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const since = await warmUp(engine);
    await catchUp(engine, since);
    const sent = Promise.withResolvers<Pass>();
    wire.onceSent(since.epoch, sent.resolve);
    const pulling = catchUp(engine, since);
    const pass = await sent.promise;
    await store.backup();
    const lost = await commit(engine, since, '{"lost":true}');
    await store.restore();
    const other = await open();
    let here: StoreState = await load(other);
    for (let count = 0; count < 3; count++) here = await commit(other, here);
    await pass();
    expect((await pulling).epoch).not.toBe(since.epoch);
    const news = await catchUp(engine, lost);
    expect(news.whole).toBe(true);
    expect(jsonsOf(news)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}', '{"n":5}']);
    expect(await engine.hasNews()).toBe(false);
  });

  test("is told apart from one with an intact history: after pulls from older bookmarks, the engine has no news", async () => {
    const engine = await open();
    const other = await open();
    const start = await load(engine);
    const known = await warmUp(engine);
    await commit(other, known);
    expect(await catchUp(engine, start)).toMatchObject({ whole: false, clock: 3 });
    expect(jsonsOf(await catchUp(engine, known))).toEqual(['{"n":3}']);
    expect(await engine.hasNews()).toBe(false);
    await store.run("UPDATE todoitems.store SET pruned_through = 1");
    await commit(other, known);
    expect(await catchUp(engine, start)).toMatchObject({ whole: true, clock: 4 });
    await catchUp(engine, known);
    expect(await engine.hasNews()).toBe(false);
  });

  test("is noticed by a commit, which is then decided on the state that is stored", async () => {
    const engine = await open();
    const since = await warmUp(engine);
    await store.backup();
    const lost = await commit(engine, since, '{"lost":true}');
    await store.restore();
    expect(await engine.commit(batchOf(lost, () => [row(4)]))).toBe(false);
    await commit(engine, lost, '{"after":true}');
    const news = await load(engine);
    expect(news.epoch).not.toBe(since.epoch);
    expect(jsonsOf(news)).toEqual(['{"n":1}', '{"n":2}', '{"after":true}']);
  });

  for (const [means, notice] of [
    ["a pull", (engine: PostgresEngine, since: StoreState) => catchUp(engine, since)],
    ["a commit", (engine: PostgresEngine, since: StoreState) => commit(engine, since)],
  ] as const) {
    test(`gets another new epoch if the same backup is restored once more and ${means} notices it`, async () => {
      const engine = await open();
      const since = await warmUp(engine);
      await store.backup();
      const lost = await commit(engine, since, '{"lost":true}');
      await store.restore();
      const first = await catchUp(engine, lost);
      expect(first.epoch).not.toBe(since.epoch);
      await store.restore();
      await notice(engine, first);
      const [clock] = await store.run("SELECT epoch FROM todoitems.store");
      expect([since.epoch, first.epoch]).not.toContain(clock?.["epoch"]);
    });
  }

  /**
   * An engine that is about to load the whole store, because the store has a new epoch (ID of its history). There is a
   * backup from before the engine's newest commit and before the new epoch.
   */
  async function loadingAfterLoss() {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const since = await warmUp(engine);
    await store.backup();
    const lost = await commit(engine, since, '{"lost":true}');
    await store.run("UPDATE todoitems.store SET epoch = 'fedcba9876543210'");
    const loading = stateQuery(wire, lost);
    const pulling = catchUp(engine, lost);
    pulling.catch(() => {});
    return { wire, engine, lost, pulling, pass: await loading, oldEpochs: [since.epoch, "fedcba9876543210"] };
  }

  test("gets a new epoch even if it is cut once more before the engine has loaded it", async () => {
    const { pulling, pass, oldEpochs } = await loadingAfterLoss();
    await store.restore();
    await pass();
    expect(oldEpochs).not.toContain((await pulling).epoch);
  });

  test("is still news if the connection is lost while it gets a new epoch, and gets a new epoch later", async () => {
    const { wire, engine, lost, pulling, pass, oldEpochs } = await loadingAfterLoss();
    // Restoring the backup brings back the old epoch (the name of the store's history) while the engine loads the
    // store.
    await store.restore();
    wire.onceSent("set epoch", () => wire.cut());
    await pass();
    expect(await pulling.catch((error: unknown) => error)).toBeInstanceOf(StoreError);
    expect(await engine.hasNews()).toBe(true);
    expect(oldEpochs).not.toContain((await catchUp(engine, lost)).epoch);
  });

  test("is not mixed with lost items if it returns to its old epoch before the list was replaced", async () => {
    const { engine, older, lost } = await cutBelow();
    await catchUp(engine, older);
    await store.restore();
    const other = await open();
    let here: StoreState = await load(other);
    for (let count = 0; count < 3; count++) here = await commit(other, here);
    expect(here.epoch).toBe(lost.epoch);
    const news = await catchUp(engine, lost);
    expect(news.whole).toBe(true);
    expect(news.epoch).not.toBe(lost.epoch);
  });

  test("gets a new epoch if it returns to an epoch that was replaced while the engine loaded the store", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const start = await load(engine);
    await warmUp(await open());
    await store.run("UPDATE todoitems.store SET pruned_through = 1");
    await store.backup();
    const loading = stateQuery(wire, start);
    const pulling = catchUp(engine, start);
    const pass = await loading;
    await store.run("UPDATE todoitems.store SET epoch = 'fedcba9876543210'");
    await pass();
    const here = await pulling;
    expect(here.epoch).toBe("fedcba9876543210");
    await store.restore();
    expect([start.epoch, here.epoch]).not.toContain((await catchUp(engine, here)).epoch);
  });

  test("is noticed if the cut removed a commit that was made while the engine loaded the store", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const start = await load(engine);
    const other = await open();
    const older = await warmUp(other);
    await store.run("UPDATE todoitems.store SET pruned_through = 1");
    await store.backup();
    const loading = stateQuery(wire, start);
    const pulling = catchUp(engine, start);
    const pass = await loading;
    const lost = await commit(other, older, '{"lost":true}');
    await pass();
    expect(await pulling).toMatchObject({ ...lost, whole: true });
    await store.restore();
    const another = await open();
    await load(another);
    await commit(another, older);
    expect(await engine.hasNews()).toBe(true);
    const news = await catchUp(engine, lost);
    expect(news.whole).toBe(true);
    expect(news.epoch).not.toBe(lost.epoch);
    expect(jsonsOf(news)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
  });

  test("gets a new epoch even if the cut is noticed while the engine looks for a commit whose answer was lost", async () => {
    const wire = await connectWire();
    const engine = await open(wire.through(store.url));
    const since = await warmUp(engine);
    loseAnswer(wire, async () => {
      await store.run("UPDATE todoitems.history SET batch = 'other' WHERE version = 2");
    });
    const here = await commit(engine, since, '{"mark":true}');
    expect(await engine.hasNews()).toBe(true);
    const news = await catchUp(engine, here);
    expect(news.whole).toBe(true);
    expect(news.epoch).not.toBe(since.epoch);
    expect(await engine.hasNews()).toBe(false);
  });

  test("gets a new epoch even if the commit that noticed the cut is refused", async () => {
    const engine = await open();
    const since = await warmUp(engine);
    await store.backup();
    const later = await commit(engine, since);
    await store.restore();
    await fillDisk();
    await expect(commit(engine, later)).rejects.toThrow("No space left on device");
    const [clock] = await store.run("SELECT epoch FROM todoitems.store");
    expect(clock?.["epoch"]).not.toBe(since.epoch);
  });

  test("is loaded while commits go on, and neither disturbs the other", async () => {
    const engine = await open();
    let here: StoreState = await warmUp(engine);
    for (let round = 0; round < 20; round++) {
      await store.run("UPDATE todoitems.store SET epoch = left(md5(random()::text), 16)");
      const since = here;
      const pulls = Array.from({ length: 5 }, () => catchUp(engine, since));
      [here] = await Promise.all([commit(engine, since), ...pulls]);
    }
    expect((await load(engine)).clock).toBe(22);
  });

  test("is loaded again if another store has taken its place", async () => {
    const engine = await open();
    const since = await warmUp(engine);
    await store.run("DROP SCHEMA todoitems CASCADE");
    await commit(await open(), since);
    const news = await catchUp(engine, since);
    expect(news).toMatchObject({ whole: true, clock: 1 });
    expect(news.epoch).not.toBe(since.epoch);
    expect(logged.join()).toContain("another history");
  });
});
