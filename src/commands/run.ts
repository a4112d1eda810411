// Runs the command that was typed, and prints the reason if it fails.

import type { Environment } from "../terminal/environment.ts";
import { parseFlags } from "../terminal/flags.ts";
import { asTyped } from "../terminal/program-name.ts";
import { unknownCommand } from "./command-line/command.ts";
import { UsageError } from "./command-line/errors.ts";
import { describeFailure } from "./command-line/failure.ts";
import { remark, remarkError } from "./command-line/output.ts";
import { allCommands, commandName, commandNames, findCommand } from "./command-list.ts";

/** Resolves to the exit code. */
export async function runCommand(words: readonly string[], environment: Environment): Promise<number> {
  try {
    return await run(words, environment);
  } catch (error) {
    const { message, exitCode } = describeFailure(error);
    remarkError(message);
    const [name = ""] = words;
    if (error instanceof UsageError && commandNames.includes(name) && name !== "help")
      remark(`For help: ${asTyped(`help ${name}`)}`);
    return exitCode;
  }
}

async function run([name = "serve", ...args]: readonly string[], environment: Environment): Promise<number> {
  const command = await findCommand(name);
  // Without a command, the service runs: `npx todoitems --port 8080` is all that a newcomer has to type.
  if (!command && name.startsWith("-")) {
    const flags = (await findCommand("serve"))?.flags ?? [];
    const meant = parseFlags(flags, [name, ...args]).positionals.find((word) => commandNames.includes(word));
    if (meant !== undefined) throw new UsageError(`Flags go after the command, as in ${asTyped(`${meant} ${name} …`)}`);
    return run(["serve", name, ...args], environment);
  }
  if (!command) throw new UsageError(unknownCommand(name, commandNames));
  // Everything after a bare `--` is an argument, never a flag.
  const flags = args.slice(0, args.includes("--") ? args.indexOf("--") : args.length);
  if (flags.includes("--version")) return run(["version"], environment);
  if (flags.includes("--help") || flags.includes("-h")) return run(["help", command.name], environment);
  return command.run(command.name === "help" ? args.map(commandName) : args, environment, allCommands);
}
