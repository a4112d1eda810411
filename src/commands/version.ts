// `todoitems version`: prints the version.

import { version } from "../../package.json";
import { defineCommand } from "./command-line/command.ts";
import { printLine } from "./command-line/output.ts";

export const command = defineCommand(
  { name: "version", parameters: "", summary: "print the version", flags: [], example: "version" },
  async () => {
    await printLine(version);
  },
);
