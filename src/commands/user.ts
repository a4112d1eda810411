// `todoitems user`: adds, removes and lists the users of a users file.

import { checkEditable, editUser, listUsers, UsersFileError } from "../credentials/users-file.ts";
import { explainUsersError } from "../serve/users-advice.ts";
import type { Environment } from "../terminal/environment.ts";
import { asTyped, asWord } from "../terminal/program-name.ts";
import { type Arguments, defineCommand, expectedOneOf, UsageError } from "./command.ts";
import { CommandError } from "./failure.ts";
import { printLine, remark } from "./output.ts";
import { askPassword } from "./password.ts";
import { warnOfUnknownVariables } from "./unknown-variables.ts";

const actions = ["add", "remove", "list"] as const;
/** A shorter password is accepted with a warning. */
const shortPassword = 8;

export const user = defineCommand(
  {
    name: "user",
    parameters: `${actions.join("|")} [NAME]`,
    summary: "add, remove or list the users who may sign in",
    flags: [
      {
        name: "users",
        placeholder: "FILE",
        meaning: "the users file, as for serve; or set TODOITEMS_USERS",
        triedInstead: { password: "other users can see it there. add asks for it, or reads it from standard input" },
      },
    ],
    notes: "add asks for the password, or reads it from standard input. If the user exists, add changes the password.",
    example: "user add ann --users users.txt",
  },
  async (args, environment) => {
    try {
      const { action, name, path } = parse(args, environment);
      if (action === "list") await list(path);
      else if (action === "add") await add(path, name);
      else await remove(path, name);
      return 0;
    } catch (error) {
      if (!(error instanceof UsersFileError)) throw error;
      throw new CommandError(explainUsersError(error), { cause: error });
    }
  },
);

function parse({ positionals, text }: Arguments, environment: Environment) {
  const [action, name = ""] = positionals;
  warnOfUnknownVariables(environment);
  const path = text("users") ?? environment["TODOITEMS_USERS"];
  if (action?.startsWith("pass"))
    throw new UsageError(
      `${action}: there is no such action. To change a password, use add: ${asTyped(`user add ${asWord(name || "NAME")}`)}`,
    );
  if (action !== "add" && action !== "remove" && action !== "list")
    throw new UsageError(
      action === undefined
        ? `Missing action: add, remove or list, as in: ${exampleOf("add")}`
        : `${action}: ${expectedOneOf(action, actions)}`,
    );
  // The message does not repeat a second word, because it may be a password.
  if (positionals.length > (action === "list" ? 1 : 2))
    throw new UsageError(
      `${action} takes ${action === "list" ? "no" : "one"} name, as in: ${exampleOf(action, name, path)}`,
    );
  const missing = [
    ...(action !== "list" && name === "" ? ["NAME"] : []),
    ...(path ? [] : ["--users FILE (or TODOITEMS_USERS)"]),
  ];
  if (!path || missing.length > 0)
    throw new UsageError(`Missing: ${missing.join(" and ")}, as in: ${exampleOf(action, name, path)}`);
  if (/[:\p{Cc}]/u.test(name) || name.startsWith("#"))
    throw new UsageError("A name must not contain a colon or control characters, and must not begin with #.");
  return { action, name, path } as const;
}

/** A complete command line. It has the name and the users file that were given, if any. */
function exampleOf(action: (typeof actions)[number], name?: string, path?: string): string {
  return asTyped(
    `user ${action} ${action === "list" ? "" : `${asWord(name || "ann")} `}--users ${asWord(path || "users.txt")}`,
  );
}

async function list(path: string): Promise<void> {
  const names = listUsers(path);
  for (const name of names) await printLine(name);
  if (names.length === 0) remark(`There are no users in ${path}.`);
}

async function add(path: string, name: string): Promise<void> {
  // Say so before the user types a password.
  checkEditable(path);
  const password = await askPassword(name);
  if (password.length < shortPassword)
    remark(`warning: A password of fewer than ${shortPassword} characters is easy to guess. Choose a longer one.`);
  const hash = await Bun.password.hash(password, "argon2id");
  const existed = editUser(path, name, hash);
  await printLine(existed ? `Changed the password of ${name} in ${path}` : `Added user ${name} to ${path}`);
}

async function remove(path: string, name: string): Promise<void> {
  if (!listUsers(path).includes(name) || !editUser(path, name, undefined))
    throw new CommandError(
      `${path} has no user ${name}. To see all users: ${asTyped(`user list --users ${asWord(path)}`)}`,
    );
  await printLine(`Removed user ${name} from ${path}`);
}
