#!/usr/bin/env bun

// The entry point: runs the command that was typed.

import { describeFailure } from "./commands/command-line/failure.ts";
import { outputError, remarkError } from "./commands/command-line/output.ts";
import { runCommand } from "./commands/run.ts";
import { noticeStart } from "./terminal/program-name.ts";

process.stdout.on("error", (error) => {
  remarkError(describeFailure(outputError(error)).message);
  process.exit(1);
});
// If standard error cannot be written, there is no place left to report that.
process.stderr.on("error", () => {});
noticeStart(process.env);
// The launcher in bin/ forwards every signal that it can. If it is killed, it can forward none, but the channel to it
// closes. Without this, the service would go on, and its user would not know which process to stop.
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
runCommand(process.argv.slice(2), process.env).then((exitCode) => process.exit(exitCode));
