// All commands.

import { serve } from "../serve/serve.ts";
import { add } from "./add.ts";
import { backup } from "./backup.ts";
import { certificate } from "./certificate.ts";
import { check } from "./check.ts";
import type { Command } from "./command.ts";
import { completionCommand } from "./completion.ts";
import { connectionVariables } from "./connect.ts";
import { doctor } from "./doctor.ts";
import { done } from "./done.ts";
import { edit } from "./edit.ts";
import { exportItems } from "./export.ts";
import { healthcheck } from "./healthcheck.ts";
import { helpCommand } from "./help.ts";
import { importItems } from "./import.ts";
import { list } from "./list.ts";
import { recover } from "./recover.ts";
import { remove } from "./remove.ts";
import { restore } from "./restore.ts";
import { settingFlags } from "./setting-flags.ts";
import { show } from "./show.ts";
import { user } from "./user.ts";
import { watch } from "./watch.ts";

export const commands: readonly Command[] = [
  {
    name: "serve",
    parameters: "",
    summary: "run the service",
    flags: settingFlags,
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
  doctor,
  healthcheck,
  user,
  certificate,
  completionCommand(() => commands),
  helpCommand(() => commands),
];
