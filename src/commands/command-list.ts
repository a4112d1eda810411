// All commands.

import { serve } from "../serve/serve.ts";
import { describeSettings } from "../serve/settings.ts";
import { add } from "./add.ts";
import { backup } from "./backup.ts";
import { certificate } from "./certificate.ts";
import { check } from "./check.ts";
import type { Command, Flag } from "./command.ts";
import { completionCommand } from "./completion.ts";
import { connectionVariables } from "./connect.ts";
import { done } from "./done.ts";
import { edit } from "./edit.ts";
import { exportItems } from "./export.ts";
import { helpCommand } from "./help.ts";
import { importItems } from "./import.ts";
import { list } from "./list.ts";
import { recover } from "./recover.ts";
import { remove } from "./remove.ts";
import { restore } from "./restore.ts";
import { show } from "./show.ts";
import { user } from "./user.ts";
import { watch } from "./watch.ts";

/** Values that shells offer for settings that take more than a few words. */
const usualValues: Readonly<Record<string, readonly string[]>> = {
  cors: ["off"],
  host: ["127.0.0.1", "0.0.0.0", "localhost", "::"],
  "https-port": ["5001", "off"],
  port: ["5000", "off"],
  "rate-limit": ["off", "100/s"],
  "stale-reads": ["off"],
  store: ["sqlite:", "postgres://", "memory:"],
  "store-limit": ["1GiB", "off"],
};

export const commands: readonly Command[] = [
  {
    name: "serve",
    parameters: "",
    summary: "run the service",
    flags: describeSettings().map(settingFlag),
    notes:
      "Every flag can be set with an environment variable: TODOITEMS_READ_ONLY=on is the same as --read-only. If both are given, the flag counts. The value of a switch is on (or true, yes, 1) or off (or false, no, 0).",
    run: (args, environment) => serve(args, environment, connectionVariables),
  },
  list,
  add,
  show,
  edit,
  done,
  remove,
  watch,
  exportItems,
  importItems,
  backup,
  restore,
  check,
  recover,
  user,
  certificate,
  completionCommand(() => commands),
  helpCommand(() => commands),
];

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
