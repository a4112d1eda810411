// `npm run describe`: writes openapi.yaml, the description of an instance with default settings. It also adds the new
// promises of that description to test/description/promises.txt. A promise that was broken stays in that file until
// somebody removes it by hand.

import { join } from "node:path";
import { defaultDescription, defaultDescriptionText } from "./default-description.ts";
import { promisesOf } from "./promises.ts";

const folder = join(import.meta.dir, "..");
await Bun.write(join(folder, "openapi.yaml"), defaultDescriptionText());

const file = Bun.file(join(folder, "test/description/promises.txt"));
const known = (await file.text()).trimEnd().split("\n");
const promises = new Set([...known, ...promisesOf(defaultDescription())]);
await file.write(`${[...promises].sort().join("\n")}\n`);
