// The settings of `serve` as flags, for the commands that accept them.

import { describeSettings } from "../serve/settings.ts";
import type { Flag } from "./flag.ts";

/** Examples of values that shells offer for settings with too many possible values to list. */
const usualValues: Readonly<Record<string, readonly string[]>> = {
  cors: ["off"],
  host: ["127.0.0.1", "0.0.0.0", "localhost", "::"],
  "https-port": ["5001", "off"],
  "metrics-port": ["9464", "off"],
  port: ["5000", "off"],
  "rate-limit": ["off", "100/s"],
  store: ["sqlite:", "postgres://", "memory:"],
  "store-limit": ["1GiB", "off"],
};

export const settingFlags: readonly Flag[] = describeSettings().map(settingFlag);

function settingFlag(setting: ReturnType<typeof describeSettings>[number]): Flag {
  const { flag, default: standard, meaning, choices } = setting;
  const [name = "", placeholder = ""] = flag.replace("--", "").split(" ");
  const suffix = standard === "" || standard === "off" ? "" : ` (${standard})`;
  const examples = usualValues[name];
  return {
    name,
    placeholder,
    meaning: `${meaning.replaceAll("`", "")}${suffix}`,
    ...(choices && { choices }),
    ...(examples && { examples }),
  };
}
