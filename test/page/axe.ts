// Looks for barriers on a page with axe-core.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../program.ts";
import type { PageDriver } from "./page-driver.ts";

const axe = readFileSync(join(projectFolder, "node_modules/axe-core/axe.min.js"), "utf8");

/** What axe-core finds: the rule, and the elements that break it. `exclude` has selectors of parts that are skipped. */
export async function barriers(page: PageDriver, exclude: readonly string[] = []): Promise<unknown[]> {
  await page.evaluate(`typeof axe === "undefined" ? (() => { ${axe} })() : 0`);
  return page.evaluate<unknown[]>(
    `axe.run({ exclude: ${JSON.stringify(exclude)} })
      .then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`,
  );
}
