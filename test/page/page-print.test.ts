// The list on paper, printed by a real Chromium.

import { expect, test } from "bun:test";
import { inflateSync } from "node:zlib";
import type { PageDriver } from "./page-driver.ts";
import { named, numbered, usePages } from "./page-fixture.ts";

const pages = usePages();

/** Prints the page, and returns how often the printed document draws a piece of text. */
async function printedTexts(page: PageDriver): Promise<number> {
  const { data } = await page.view.cdp<{ data: string }>("Page.printToPDF", {});
  const document = Buffer.from(data, "base64").toString("latin1");
  const streams = [...document.matchAll(/stream\r?\n(.*?)endstream/gs)].map(([, bytes = ""]) => inflated(bytes));
  return streams.join("\n").match(/T[jJ]/g)?.length ?? 0;
}

/** The content of a stream of a PDF file. Empty if the stream is not compressed: such a stream has no text. */
function inflated(bytes: string): string {
  try {
    return inflateSync(Buffer.from(bytes, "latin1")).toString("latin1");
  } catch {
    return "";
  }
}

test("all items are printed, not only those in sight, and afterwards the page is as before", async () => {
  await pages.start();
  const count = 120;
  await pages.create(...Array.from({ length: count }, (_, index) => named(numbered(index), `Item ${index}`)));
  const page = await pages.openPage();
  await page.show({ width: 1000, height: 20_000 });
  await page.until(`document.querySelectorAll("li").length === ${count}`);
  const expected = await printedTexts(page);
  await page.show({ width: 1000, height: 800 });
  await page.until(`document.querySelectorAll("li").length < ${count / 2}`);
  await page.scrollTo(2000);
  await page.until(`document.querySelector("li:not([data-index='0'])").dataset.index > 10`);
  const before = await page.evaluate<number>("scrollY");
  expect(expected).toBeGreaterThan(count);
  expect(await printedTexts(page)).toBe(expected);
  await page.until(`document.querySelectorAll("li").length < ${count / 2}`);
  expect(await page.evaluate<number>("scrollY")).toBe(before);
});

test("on paper there are no fields, buttons or messages, and the text is dark on white", async () => {
  await pages.start();
  const page = await pages.openPage();
  await page.add("One");
  await page.clickItem("One", "delete");
  await page.add("Two");
  await page.untilNames("Two");
  await page.view.cdp("Emulation.setEmulatedMedia", {
    media: "print",
    features: [{ name: "prefers-color-scheme", value: "dark" }],
  });
  const seen = await page.evaluate<string[]>(
    "[...document.querySelectorAll('button:not(.text), form, .search, .notice')].filter((part) => part.checkVisibility()).map((part) => part.outerHTML)",
  );
  expect(seen).toEqual([]);
  expect(await page.evaluate<string>("getComputedStyle(document.querySelector('.name')).color")).toBe(
    "rgb(30, 34, 38)",
  );
});
