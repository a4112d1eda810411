// Runs before `npm pack ./packages/client`, after the client was built there. Copies into that folder what else the
// package contains: the licence, and docs/client.md as the README.
// Why: docs/decisions/0034-what-is-published.md

import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const project = join(import.meta.dir, "..");
const target = join(project, "packages/client");
cpSync(join(project, "LICENSE"), join(target, "LICENSE"));
// The package has none of the other chapters, so links to them become plain text.
const chapter = readFileSync(join(project, "docs/client.md"), "utf8");
writeFileSync(join(target, "README.md"), chapter.replace(/\[([^\]]+)\]\((?!#|https?:)[^)]*\)/g, "$1"));
