#!/usr/bin/env bun

// The entry point: picks a command, runs it, and prints the reason if it fails.

import { version } from "../package.json";
import { type Command, UsageError } from "./commands/command.ts";
import { describeFailure } from "./commands/failure.ts";
import { commandHelp, overview, unknownCommand } from "./commands/help.ts";
import { outputError, printLine, remark, remarkError } from "./commands/output.ts";
import { serveCommand } from "./commands/serve.ts";
import { asTyped, noticeStart } from "./terminal/program-name.ts";

/** Loads all commands. They are loaded only when they are needed, because the service then starts sooner. */
async function allCommands(): Promise<readonly Command[]> {
  return (await import("./commands/command-list.ts")).commands;
}

async function findCommand(name: string): Promise<Command | undefined> {
  return name === serveCommand.name ? serveCommand : (await allCommands()).find((command) => command.name === name);
}

// Without a command, the service runs: `npx todoitems` is all that a newcomer has to type.
async function run([name = serveCommand.name, ...args]: readonly string[]): Promise<number> {
  const command = await findCommand(name);
  // Everything after a bare `--` is an argument, never a flag.
  const flags = args.slice(0, args.includes("--") ? args.indexOf("--") : args.length);
  const asksForHelp = flags.includes("--help") || flags.includes("-h");
  if (name === "--help" || name === "-h") await printLine(overview(await allCommands()));
  else if (name === "--version" || (command && flags.includes("--version"))) await printLine(version);
  else if (command && asksForHelp) await printLine(commandHelp(command));
  else if (command) return command.run(args, process.env);
  else throw new UsageError(unknownCommand(name, await allCommands(), args));
  return 0;
}

async function fail(error: unknown): Promise<never> {
  const { message, exitCode } = describeFailure(error);
  remarkError(message);
  const [name] = process.argv.slice(2);
  if (error instanceof UsageError && name !== undefined && name !== "help" && (await findCommand(name)))
    remark(`For help: ${asTyped(`help ${name}`)}`);
  process.exit(exitCode);
}

process.stdout.on("error", (error) => void fail(outputError(error)));
// If standard error cannot be written, there is no place left to report that.
process.stderr.on("error", () => {});
noticeStart(process.env);
// The launcher in bin/ forwards every signal that it can. If it is killed, it can forward none, but the channel to it
// closes. Without this, the service would go on, and its user would not know which process to stop.
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
run(process.argv.slice(2)).then((exitCode) => process.exit(exitCode), fail);
