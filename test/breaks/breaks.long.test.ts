// Makes the quick mistakes of the table in copies of the project, and demands that the tests notice each of them.
// `npm run torture -- --only breaks` makes the others.

import { expect, test } from "bun:test";
import { objectionsTo } from "./broken-copy.ts";
import { breaks } from "./table.ts";

for (const broken of breaks.filter(({ isQuick }) => isQuick))
  test(`the tests notice this mistake: ${broken.name} (${broken.file})`, async () => {
    expect(await objectionsTo(broken)).toEqual([]);
  });
