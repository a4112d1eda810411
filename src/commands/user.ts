// `todoitems user`: adds, removes and lists the users of a users file.

import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { editUser, listUsers, UsersFileError } from "../users-file.ts";
import { askPassword, PasswordError } from "./password.ts";
import type { Environment } from "./settings.ts";

const usage = `Usage: todoitems user add NAME --users FILE     (asks for the password, or reads it from standard input)
       todoitems user remove NAME --users FILE
       todoitems user list --users FILE

TODOITEMS_USERS may name the file instead of --users.`;

/** A command that cannot be carried out as it was typed. */
class UsageError extends Error {
  override readonly name = "UsageError";
}

export async function user(args: readonly string[], environment: Environment): Promise<number> {
  try {
    const { action, name, path } = parse(args, environment);
    if (action === "list") for (const known of listUsers(path)) console.log(known);
    else if (action === "add") await add(path, name);
    else await remove(path, name);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`${error.message}\n\n${usage}`);
      return 2;
    }
    if (!(error instanceof UsersFileError || error instanceof PasswordError)) throw error;
    console.error(error.message);
    return 1;
  }
}

function parse(args: readonly string[], environment: Environment) {
  const { values, positionals } = parseKnown(args);
  const [action, name = "", ...more] = positionals;
  const path = values.users ?? environment["TODOITEMS_USERS"];
  if (action !== "add" && action !== "remove" && action !== "list")
    throw new UsageError(action === undefined ? "What is to be done?" : `${action} is not one of add, remove, list.`);
  if (path === undefined || path === "") throw new UsageError("Which file? Say --users FILE.");
  if ((action === "list") !== (name === "") || more.length > 0)
    throw new UsageError(action === "list" ? "list takes no name." : `${action} takes one name.`);
  if (/[:\p{Cc}]/u.test(name) || name.startsWith("#"))
    throw new UsageError("A name has no colon and no control characters, and does not start with #.");
  return { action, name, path } as const;
}

function parseKnown(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: { users: { type: "string" } }, allowPositionals: true });
  } catch (error) {
    // A password given as an argument would end up in the shell's history and in every list of processes.
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
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
