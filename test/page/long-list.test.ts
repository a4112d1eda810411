// Long lists on the page: adding items one after the other, and what a tick draws again.

import { expect, test } from "bun:test";
import { join } from "node:path";
import type { PageDriver } from "./page-driver.ts";
import { named, numbered, usePages } from "./page-fixture.ts";

const pages = usePages();

async function openLong(length: number): Promise<PageDriver> {
  const seed = join(pages.path, "seed.json");
  await Bun.write(seed, `[${Array.from({ length }, (_, index) => named(numbered(index), `Item ${index}`))}]`);
  await pages.start("--seed", seed);
  return pages.openPage();
}

test("while items are added to a long list, the composer stays where it is and the new item stays in sight", async () => {
  const page = await openLong(60);
  await page.show({ width: 360, height: 740, isPhone: true });
  const composerTop = "document.querySelector('.composer').getBoundingClientRect().top";
  const isInSight = (name: string) => `(() => {
    const row = [...document.querySelectorAll("li.row")].at(-1);
    const { top, bottom } = row.getBoundingClientRect();
    const isCovered = document.querySelector(".composer").getBoundingClientRect().bottom > top;
    return row.querySelector(".name").textContent === "${name}" && !isCovered && bottom <= innerHeight;
  })()`;
  await page.click('[data-control="composer"]');
  const places: unknown[] = [];
  for (const name of ["First", "Second", "Third", "Fourth"]) {
    const scrolled = await page.evaluate<number>("scrollY");
    await page.view.type(name);
    await page.untilDrawn();
    // Typing does not scroll.
    places.push((await page.evaluate<number>("scrollY")) - scrolled);
    await page.view.press("Enter");
    await page.until(isInSight(name));
    // The row becomes smaller when the service has the item. At the end of the page, this scrolls.
    await page.until("!document.querySelector('.unsent')");
    await page.untilDrawn();
    places.push(await page.evaluate<number>(composerTop));
  }
  expect(places).toEqual([0, 4, 0, 4, 0, 4, 0, 4]);
});

test("a tick in a list whose rows are all drawn draws only the row that was ticked again", async () => {
  const page = await openLong(1_000);
  await page.clickButton("Show all 1,000");
  await page.until("document.querySelectorAll('li.row').length === 1000");
  await page.view.cdp("Profiler.enable");
  await page.view.cdp("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await page.clickItem("Item 500", "tick");
  await page.until("[...document.querySelectorAll('li.row')].at(-1).querySelector('.tick').checked");
  await pages.untilStored((items) => items[500]?.["Done"] === true);
  await page.until("!document.querySelector('.unsent')");
  const { result } = (await page.view.cdp("Profiler.takePreciseCoverage")) as unknown as Coverage;
  const [script] = result.filter(({ url }) => url.includes("/assets/script-"));
  const { text: source } = await pages.send("GET", new URL(script?.url ?? "").pathname);
  // The function that draws a row is the smallest one with this text.
  const [drawsRow] = (script?.functions ?? [])
    .flatMap(({ ranges }) => ranges.slice(0, 1))
    .filter(({ startOffset, endOffset }) => source.slice(startOffset, endOffset).includes("Item without a name"))
    .sort((one, other) => one.endOffset - one.startOffset - (other.endOffset - other.startOffset));
  // Once with the tick, and again when its edit waits and when the service has stored it.
  expect(drawsRow?.count).toBeGreaterThan(0);
  expect(drawsRow?.count).toBeLessThan(10);
});

/** What Chromium counts about the functions of each script. */
interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
    }[];
  }[];
}
