// `todoitems user`: adds, removes and lists the users of a users file.

import { checkEditable, editUser, listUsers, nameBytesMax } from "../credentials/users-file.ts";
import { asTyped, asWord } from "../terminal/program-name.ts";
import { defineCommand } from "./command-line/command.ts";
import { CommandError, UsageError } from "./command-line/errors.ts";
import { printLine, remark } from "./command-line/output.ts";
import { askPassword } from "./service/password.ts";

/** A shorter password is accepted with a warning. */
const shortPassword = 8;

export const command = defineCommand(
  {
    name: "user",
    parameters: "add|remove|list [NAME]",
    summary: "add, remove or list the users who may sign in",
    flags: [{ name: "users", placeholder: "FILE", meaning: "the users file, as for serve; or set TODOITEMS_USERS" }],
    notes: "add asks for the password, or reads it from standard input. If the user exists, add changes the password.",
    example: "user add ann --users users.txt",
  },
  async (args) => {
    const [action, name] = args.positionals;
    const path = args.setting("users");
    if ((name === undefined) !== (action === "list"))
      throw new UsageError(action === "list" ? "list takes no name." : "Missing argument: NAME");
    if (!path) throw new UsageError("Missing: --users FILE (or TODOITEMS_USERS)");
    if (name !== undefined && (/^#|[:\p{Cc}]/u.test(name) || name.trim() === ""))
      throw new UsageError(
        "A name must not be empty, must not contain a colon or control characters, and must not begin with #.",
      );
    if (action === "add" && Buffer.byteLength(name ?? "") > nameBytesMax)
      throw new UsageError(`A name must not have more than ${nameBytesMax.toLocaleString("en")} bytes.`);
    if (action === "add") await add(path, name ?? "");
    else if (action === "remove") await remove(path, name ?? "");
    else await list(path);
  },
);

async function list(path: string): Promise<void> {
  const names = listUsers(path);
  for (const name of names) await printLine(name);
  if (names.length === 0) remark(`There are no users in ${path}.`);
}

async function add(path: string, name: string): Promise<void> {
  // Say so before the user types a password.
  checkEditable(path);
  const password = await askPassword(name, true);
  if (password.length < shortPassword)
    remark(`warning: A password of fewer than ${shortPassword} characters is easy to guess. Choose a longer one.`);
  const existed = editUser(path, name, await Bun.password.hash(password, "argon2id"));
  await printLine(existed ? `Changed the password of ${name} in ${path}` : `Added user ${name} to ${path}`);
}

async function remove(path: string, name: string): Promise<void> {
  if (!listUsers(path).includes(name) || !editUser(path, name, undefined))
    throw new CommandError(`${path} has no user ${name}.`);
  await printLine(`Removed user ${name} from ${path}`);
  remark(
    `If ${name} has lists (--lists user), they stay in the store, and are there again for the next user of this name. To delete them: ${asTyped(`lists remove ${asWord(name)} --store STORE`)}`,
  );
}
