// `todoitems user`: adds, removes and lists the users of a users file.

import { existsSync } from "node:fs";
import { editUser, listUsers, UsersFileError } from "../credentials/users-file.ts";
import type { Environment } from "../serve/environment.ts";
import { type Arguments, defineCommand, UsageError } from "./command.ts";
import { CommandError } from "./failure.ts";
import { askPassword, PasswordError } from "./password.ts";

export const user = defineCommand(
  {
    name: "user",
    parameters: "ACTION [NAME]",
    summary: "say who may sign in",
    flags: [{ name: "users", placeholder: "FILE", meaning: "the users file, as serve takes it; or TODOITEMS_USERS" }],
    notes:
      "ACTION is add, remove or list. add asks for the password, or reads it from standard input. A name that is there gets a new password.",
  },
  async (args, environment) => {
    try {
      const { action, name, path } = parse(args, environment);
      if (action === "list") for (const known of listUsers(path)) console.log(known);
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
    throw new UsageError(action === undefined ? "What is to be done?" : `${action} is not one of add, remove, list.`);
  if (path === undefined || path === "") throw new UsageError("Which file? Say --users FILE.");
  if ((action === "list") !== (name === "") || more.length > 0)
    throw new UsageError(action === "list" ? "list takes no name." : `${action} takes one name.`);
  if (/[:\p{Cc}]/u.test(name) || name.startsWith("#"))
    throw new UsageError("A name has no colon and no control characters, and does not start with #.");
  return { action, name, path } as const;
}

async function add(path: string, name: string): Promise<void> {
  const hash = await Bun.password.hash(await askPassword(name), "argon2id");
  const existed = await editUser(path, name, hash);
  console.log(`${path}: ${name} was ${existed ? "given a new password" : "added"}.`);
}

async function remove(path: string, name: string): Promise<void> {
  if (!existsSync(path)) throw new UsersFileError(`${path}: there is no such file.`);
  if (!(await editUser(path, name, undefined))) throw new UsersFileError(`${path}: there is no user ${name}.`);
  console.log(`${path}: ${name} was removed.`);
}
