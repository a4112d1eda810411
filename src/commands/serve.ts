// `todoitems serve`: runs the service.

import { closeSync } from "node:fs";
import { isatty } from "node:tty";
import { runService } from "../serve/run-service.ts";
import { settingFlags } from "../serve/settings.ts";
import type { Command } from "./command-line/command.ts";
import { connectionVariables } from "./service/connection-flags.ts";

export const command: Command = {
  name: "serve",
  parameters: "",
  summary: "run the service",
  flags: settingFlags,
  notes:
    "Every flag can be set with an environment variable: TODOITEMS_READ_ONLY=on is the same as --read-only. If both are given, the flag counts. The value of a switch is on (or true, yes, 1) or off (or false, no, 0).",
  example: "serve --store sqlite:team.db --auth writes --users users.txt",
  async run(args, environment) {
    const exitCode = await runService(args, environment, connectionVariables);
    // At the end, Bun restores the state that the terminal had at the start. If the service was started in the
    // background, the shell was reading a command line by then, with the echo off, and the user's next program would
    // have no echo. Bun cannot do that if the terminal is closed.
    for (const file of [0, 1, 2]) if (isatty(file)) closeSync(file);
    return exitCode;
  },
};
