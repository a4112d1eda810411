// `todoitems user`: adds, removes and lists the users of a users file.

import { existsSync } from "node:fs";
import { editUser, listUsers, UsersFileError } from "../credentials/users-file.ts";
import type { Environment } from "../serve/environment.ts";
import { type Arguments, defineCommand, expectedOneOf, UsageError } from "./command.ts";
import { CommandError } from "./failure.ts";
import { printLine } from "./output.ts";
import { askPassword, PasswordError } from "./password.ts";

const actions = ["add", "remove", "list"] as const;

export const user = defineCommand(
  {
    name: "user",
    parameters: `${actions.join("|")} [NAME]`,
    summary: "add, remove or list the users who may sign in",
    flags: [{ name: "users", placeholder: "FILE", meaning: "the users file, as for serve; or set TODOITEMS_USERS" }],
    notes:
      "add asks for the password, or reads it from standard input. If the user exists, add changes the password. Example:\n  todoitems user add ann --users users.txt",
  },
  async (args, environment) => {
    try {
      const { action, name, path } = parse(args, environment);
      if (action === "list") for (const known of listUsers(path)) await printLine(known);
      else if (action === "add") await add(path, name);
      else await remove(path, name);
      return 0;
    } catch (error) {
      if (!(error instanceof UsersFileError || error instanceof PasswordError)) throw error;
      throw new CommandError(error.message, { cause: error });
    }
  },
);

function parse({ positionals, text }: Arguments, environment: Environment) {
  const [action, name = "", ...more] = positionals;
  const path = text("users") ?? environment["TODOITEMS_USERS"];
  if (action !== "add" && action !== "remove" && action !== "list")
    throw new UsageError(
      action === undefined ? "Missing action: add, remove or list." : `${action}: ${expectedOneOf(action, actions)}`,
    );
  if (path === undefined || path === "")
    throw new UsageError("The users file is missing. Name it with --users FILE or TODOITEMS_USERS.");
  if ((action === "list") !== (name === "") || more.length > 0)
    throw new UsageError(
      action === "list" ? "list takes no name." : `${action} takes one name, as in: todoitems user ${action} ann`,
    );
  if (/[:\p{Cc}]/u.test(name) || name.startsWith("#"))
    throw new UsageError("A name must not contain a colon or control characters, and must not begin with #.");
  return { action, name, path } as const;
}

async function add(path: string, name: string): Promise<void> {
  // If the file cannot be read, say so before the user types a password.
  if (existsSync(path)) listUsers(path);
  const hash = await Bun.password.hash(await askPassword(name), "argon2id");
  const existed = await editUser(path, name, hash);
  await printLine(existed ? `Changed the password of ${name} in ${path}` : `Added user ${name} to ${path}`);
}

async function remove(path: string, name: string): Promise<void> {
  if (!listUsers(path).includes(name) || !(await editUser(path, name, undefined)))
    throw new UsersFileError(`${path} has no user ${name}. To see all users: todoitems user list --users ${path}`);
  await printLine(`Removed user ${name} from ${path}`);
}
