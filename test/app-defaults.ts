// What an instance with the default settings gives to its app. Tests change single options of it.

import { Access } from "../src/http/access.ts";
import type { AppOptions } from "../src/http/app.ts";

export const appDefaults: Omit<AppOptions, "limits" | "log"> = {
  hosts: undefined,
  access: new Access(),
  cors: undefined,
  site: undefined,
  forms: "both",
  lists: "one",
  fieldNames: "as-sent",
  requiredFields: [],
  bodyBytesMax: 1024 ** 2,
  heartbeatMs: 15_000,
};
