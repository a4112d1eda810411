// Runs before `npm pack ./packages/client`. Copies into that folder what the package contains: the client that
// `npm run build` has built, the licence, and docs/client.md as the README.
// Why: docs/decisions/0034-what-is-published.md

import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const project = join(import.meta.dir, "..");
const target = join(project, "packages/client");
rmSync(join(target, "dist"), { recursive: true, force: true });
for (const path of ["dist/client", "dist/types", "LICENSE"])
  cpSync(join(project, path), join(target, path), { recursive: true });
// The package has none of the other chapters, so links to them become plain text.
const chapter = readFileSync(join(project, "docs/client.md"), "utf8");
writeFileSync(join(target, "README.md"), chapter.replace(/\[([^\]]+)\]\((?!#|https?:)[^)]*\)/g, "$1"));
