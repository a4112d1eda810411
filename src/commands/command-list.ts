// All commands, in the order in which the help lists them.

import { accept } from "./accept.ts";
import { add } from "./add.ts";
import { backup } from "./backup.ts";
import { certificate } from "./certificate.ts";
import { check } from "./check.ts";
import type { Command } from "./command.ts";
import { completionCommand } from "./completion.ts";
import { doctor } from "./doctor.ts";
import { done } from "./done.ts";
import { edit } from "./edit.ts";
import { exportItems } from "./export.ts";
import { healthcheck } from "./healthcheck.ts";
import { helpCommand } from "./help.ts";
import { importItems } from "./import.ts";
import { list } from "./list.ts";
import { remove } from "./remove.ts";
import { restore } from "./restore.ts";
import { serveCommand } from "./serve.ts";
import { show } from "./show.ts";
import { user } from "./user.ts";
import { watch } from "./watch.ts";

export const commands: readonly Command[] = [
  serveCommand,
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
  accept,
  doctor,
  healthcheck,
  user,
  certificate,
  completionCommand(() => commands),
  helpCommand(() => commands),
];
