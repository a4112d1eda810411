// Uses axe-core to look for accessibility barriers on a page.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../program.ts";
import type { PageDriver } from "./page-driver.ts";

const axe = readFileSync(join(projectFolder, "node_modules/axe-core/axe.min.js"), "utf8");

/**
 * Returns what axe-core finds: each rule, with the elements that break it. The parts that `exclude` selects are
 * skipped.
 */
export async function barriers(page: PageDriver, exclude: readonly string[] = []): Promise<unknown[]> {
  await page.evaluate(`typeof axe === "undefined" ? (() => { ${axe} })() : 0`);
  return page.evaluate<unknown[]>(
    `axe.run({ exclude: ${JSON.stringify(exclude)} })
      .then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`,
  );
}
