// The settings of `serve` as flags, for the commands that accept them.

import { describeSettings } from "../../serve/settings.ts";
import type { Flag } from "./command.ts";

export const settingFlags: readonly Flag[] = describeSettings().map(({ flag, default: standard, meaning }) => {
  const [name = "", placeholder = ""] = flag.replace("--", "").split(" ");
  const suffix = standard === "" || standard === "off" ? "" : ` (${standard})`;
  return { name, placeholder, meaning: `${meaning.replaceAll("`", "")}${suffix}` };
});
