// `todoitems lists`: prints the names of the lists that have items, or those of a store with their owners. Deletes the
// lists of a user who is gone.

import { readResponse } from "../client/errors.ts";
import type { TodoClient } from "../client/todo-client.ts";
import { asTyped } from "../terminal/program-name.ts";
import { type Arguments, type Command, defineCommand } from "./command-line/command.ts";
import { CommandError, UsageError } from "./command-line/errors.ts";
import { countOf, jsonFlag, printLine, remark } from "./command-line/output.ts";
import { connect } from "./service/connect.ts";
import { connectionFlags } from "./service/connection-flags.ts";
import { serviceAddress } from "./service/server-address.ts";
import { listsOf, removeLists } from "./stores/owned-lists.ts";
import { describeStore, storeFlag, storeOf } from "./stores/store-setting.ts";

/** Stands for the list at the service's own address, whose name is empty. No other list can have this name. */
const rootName = "(root)";

export const command: Command = defineCommand(
  {
    name: "lists",
    parameters: "[remove] [USER] [LIST]",
    summary: "show the lists that have items, or delete those of a user",
    flags: [jsonFlag, ...connectionFlags, storeFlag],
    notes: `The list at the service's own address is ${rootName}. The others have addresses such as http://127.0.0.1:5000/lists/work/, which every command takes as its --server. A service has them if it was started with --lists many or --lists user. With --store, the command reads a store instead, and shows the owner, the name, the items and the bytes of each list. remove deletes a user's lists, or one of them, as a client would: in a SQLite store that no service uses, or in PostgreSQL at any time. USER is an owner, as --store shows it.`,
    example: "lists",
  },
  async (args, environment) => {
    const [action, owner, name] = args.positionals;
    if (action !== undefined && action !== "remove")
      throw new UsageError(`${action}: unexpected. ${asTyped("lists --store STORE")} shows the lists of every user.`);
    const isOfStore = action === "remove" || args.has("store");
    const idle = isOfStore ? connectionFlags.find(({ name }) => args.has(name)) : undefined;
    if (idle) throw new UsageError(`--${idle.name} is for a service, but this is about a store: leave it out.`);
    if (action === "remove") await remove(args, owner, name);
    else if (args.has("store")) await show(args);
    else await showNames(await connect(args, environment), args);
  },
);

async function showNames({ requester }: TodoClient<string>, args: Arguments): Promise<void> {
  const service = serviceAddress(new URL("../../", requester.listUrl));
  const request = { method: "GET", url: new URL("lists", service).href } as const;
  const reply = await requester.retrying({}, () => requester.send(request));
  const json = await reply.text();
  const lists = readResponse(request, () => JSON.parse(json) as { readonly name: string }[]);
  if (args.has("json")) await printLine(json);
  else for (const { name } of lists) await printLine(name === "" ? rootName : name);
}

/** Neither owners nor names contain a tab. */
async function show(args: Arguments): Promise<void> {
  const lists = await listsOf(storeOf(args));
  if (args.has("json")) return printLine(JSON.stringify(lists));
  for (const { owner, name, items, bytes } of lists)
    await printLine([owner || "(nobody)", name || rootName, items, bytes].join("\t"));
}

async function remove(args: Arguments, owner: string | undefined, name: string | undefined): Promise<void> {
  if (!owner) throw new UsageError("Missing argument: USER");
  const store = storeOf(args);
  const removed = await removeLists(store, owner, name === rootName ? "" : name);
  if (removed.lists === 0)
    throw new CommandError(
      `${describeStore(store)} has no such list of ${owner}. ${asTyped("lists --store STORE")} shows all of them.`,
    );
  if (args.has("json")) await printLine(JSON.stringify(removed));
  else remark(`Deleted ${countOf(removed.items)} in ${countOf(removed.lists, "list")} of ${owner}`);
}
