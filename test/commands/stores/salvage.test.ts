// What can be saved from damaged stores: everything that is intact, and nothing that is not.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { Change } from "../../../src/collection/engine.ts";
import { type Salvaged, salvage } from "../../../src/engines/sqlite/salvage.ts";
import { temporaryFolder } from "../../engines/engine-kinds.ts";
import { damage, type Random, randomFrom, writeDamageable } from "./damaged-store.ts";

const pageBytes = 4_096;
const folder = temporaryFolder();
const sound = join(folder.path, "sound.db");
const checkpointed = join(folder.path, "checkpointed.db");
const store = join(folder.path, "store.db");
let written: Map<number, Change>;

beforeAll(async () => {
  written = await writeDamageable(sound, 120);
  copyFileSync(`${sound}.original`, checkpointed);
});

afterAll(() => folder.dispose());

/** Makes a copy, damages it, and salvages it. */
function salvageDamaged(from: string, spoil: () => void): Salvaged {
  for (const ending of ["", "-wal"]) {
    rmSync(`${store}${ending}`, { force: true });
    if (existsSync(`${from}${ending}`)) copyFileSync(`${from}${ending}`, `${store}${ending}`);
  }
  spoil();
  return salvage(store);
}

function expectOnlyWritten({ rows }: Salvaged): void {
  expect(rows.filter((row) => !Bun.deepEquals(row, written.get(row.version)))).toEqual([]);
}

/**
 * Returns the versions whose rows are at least partly on this page. To find them, overwrites the whole page and checks
 * which rows are lost.
 */
function lostVersions(from: string, whole: Salvaged, page: number): number[] {
  const { rows } = salvageDamaged(from, () => damage(store, (page - 1) * pageBytes, pageBytes, randomFrom(page)));
  const saved = new Set(rows.map(({ version }) => version));
  return whole.rows.map(({ version }) => version).filter((version) => !saved.has(version));
}

describe("salvage", () => {
  test("finds every row of a sound store, in the file and in the log", () => {
    const salvaged = salvageDamaged(sound, () => {});
    expect(salvaged.losses).toEqual([]);
    expectOnlyWritten(salvaged);
    expect(salvaged.rows.length).toBe(written.size);
    expect(readFileSync(`${store}-wal`).length).toBeGreaterThan(0);
  });

  test("a page of rubbish costs only the rows on it, and the loss is named", () => {
    const whole = salvageDamaged(checkpointed, () => {});
    const pageCount = statSync(checkpointed).size / pageBytes;
    let lostCount = 0;
    for (let page = 1; page <= pageCount; page++) {
      const lost = lostVersions(checkpointed, whole, page);
      lostCount += lost.length;
      const salvaged = salvage(store);
      expectOnlyWritten(salvaged);
      if (lost.length > 0) expect({ page, named: salvaged.losses.length > 0 }).toEqual({ page, named: true });
    }
    // Each row begins on one page. A long row continues on two others, and is lost with any of the three.
    const longCount = whole.rows.filter(({ json }) => (json?.length ?? 0) > 4_000).length;
    expect(lostCount).toBe(whole.rows.length + 2 * longCount);
  });

  test("wherever a file is cut off, what is lost with its end is named", () => {
    const whole = salvageDamaged(checkpointed, () => {});
    for (let page = statSync(checkpointed).size / pageBytes - 1; page >= 0; page--) {
      const salvaged = salvageDamaged(checkpointed, () => truncateSync(store, page * pageBytes));
      expectOnlyWritten(salvaged);
      const isWhole = salvaged.rows.length === whole.rows.length;
      expect({ page, named: isWhole || salvaged.losses.length > 0 }).toEqual({ page, named: true });
    }
  });

  test("a flipped bit costs at most the row that it hits, wherever it is, and what is lost is named", () => {
    const random = randomFrom(1);
    for (const from of [sound, checkpointed]) {
      const whole = salvageDamaged(from, () => {});
      for (let n = 0; n < 60; n++) expectFlip(from, whole, random, `seed 1, flip ${n}`);
    }
  }, 20_000);

  test("rubbish in the log costs nothing that is still in the file, and gives back nothing that was not committed", () => {
    const random = randomFrom(2);
    const whole = salvageDamaged(sound, () => {});
    for (let n = 0; n < 20; n++) {
      const salvaged = salvageDamaged(sound, () => {
        const { size } = statSync(`${store}-wal`);
        damage(`${store}-wal`, Math.floor(random() * (size - 600)), 600, random);
      });
      expectOnlyWritten(salvaged);
      expect(whole.rows.length - salvaged.rows.length).toBeLessThan(60);
    }
  });
});

function expectFlip(from: string, whole: Salvaged, random: Random, label: string): void {
  const salvaged = salvageDamaged(from, () => {
    const path = existsSync(`${store}-wal`) && random() < 0.5 ? `${store}-wal` : store;
    damage(path, Math.floor(random() * statSync(path).size), 0, random);
  });
  expectOnlyWritten(salvaged);
  const lostCount = whole.rows.length - salvaged.rows.length;
  const rowLosses = salvaged.losses.filter(({ row }) => row).length;
  expect({ label, few: lostCount <= 1, named: salvaged.losses.length >= lostCount }).toEqual({
    label,
    few: true,
    named: true,
  });
  if (lostCount === 1) expect({ label, rowLosses }).toEqual({ label, rowLosses: 1 });
}
