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

export const commands: readonly Command[] = [
  {
    name: "serve",
    parameters: "",
    summary: "run the service",
    flags: describeSettings().map(settingFlag),
    notes: "Every flag has an environment variable: --read-only is TODOITEMS_READ_ONLY, and so on. Flags win.",
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

function settingFlag({ flag, default: standard, meaning }: ReturnType<typeof describeSettings>[number]): Flag {
  const [name = "", placeholder = ""] = flag.replace("--", "").split(" ");
  const suffix = standard === "" || standard === "off" ? "" : ` (${standard})`;
  return { name, placeholder, meaning: `${meaning.replaceAll("`", "")}${suffix}` };
}
