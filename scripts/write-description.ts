// `npm run describe`: writes openapi.yaml, the description of an instance with default settings.

import { join } from "node:path";
import { defaultDescription } from "./default-description.ts";

await Bun.write(join(import.meta.dir, "../openapi.yaml"), defaultDescription());
