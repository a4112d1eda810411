// Makes the client with which a command talks to a service: with the right credentials, and with trust in the right
// certificate authority.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Credentials } from "../../client/basic.ts";
import { jsonText } from "../../client/codecs.ts";
import { TodoClient } from "../../client/todo-client.ts";
import { dataFolder } from "../../credentials/data-folder.ts";
import { type Environment, variableOf } from "../../terminal/environment.ts";
import { type Arguments, type Command, defineCommand } from "../command-line/command.ts";
import { NotKeptError, UsageError } from "../command-line/errors.ts";
import { remark } from "../command-line/output.ts";
import { connectionFlags } from "./connection-flags.ts";
import { isOnThisMachine, parseServer } from "./server-address.ts";

/** Makes a command that talks to a service, from its description and a function that takes a client. */
export function defineClientCommand(
  description: Omit<Command, "run">,
  run: (client: TodoClient<string>, args: Arguments, environment: Environment) => Promise<undefined>,
): Command {
  return defineCommand(
    { ...description, flags: [...description.flags, ...connectionFlags] },
    async (args, environment) => run(await connect(args, environment), args, environment),
  );
}

/** A client that handles items as text, so that they are shown and stored exactly as they are. */
async function connect(args: Arguments, environment: Environment): Promise<TodoClient<string>> {
  const read = (flag: string) => args.text(flag) ?? (environment[variableOf(flag)] || undefined);
  const server = parseServer(read("server") ?? "http://127.0.0.1:5000/", "--server");
  const form = read("form") ?? "b";
  if (form !== "a" && form !== "b") throw new UsageError(`The form ${form} does not exist. Use a or b.`);
  const username = read("user");
  const credentials =
    username === undefined ? undefined : await credentialsOf(username, read("password-file"), environment);
  if (credentials && server.protocol === "http:" && !isOnThisMachine(server))
    remark(`warning: The password is sent to ${server.host} unencrypted. Use an https address if there is one.`);
  const fetch = await fetchFor(server, read("ca"), environment);
  return new CommandClient(server, { codec: jsonText, form, credentials, fetch });
}

/**
 * A client whose writes fail if the service is read-only. Otherwise the commands would report a success although
 * nothing was stored.
 */
class CommandClient extends TodoClient<string> {
  override async create(...args: Parameters<TodoClient<string>["create"]>) {
    return this.#kept(await super.create(...args));
  }

  override async update(...args: Parameters<TodoClient<string>["update"]>) {
    return this.#kept(await super.update(...args));
  }

  override async change(...args: Parameters<TodoClient<string>["change"]>) {
    return this.#kept(await super.change(...args));
  }

  override async remove(...args: Parameters<TodoClient<string>["remove"]>) {
    return this.#kept(await super.remove(...args));
  }

  #kept<Result extends { readonly etag: string | undefined }>(result: Result): Result {
    if (!result.etag?.endsWith('-not-kept"')) return result;
    throw new NotKeptError(
      `${new URL("/", this.url).href} is read-only: it accepted this, but stored nothing. Start the service without --read-only and --demo, or give another address with --server URL.`,
    );
  }
}

async function credentialsOf(
  username: string,
  passwordFile: string | undefined,
  environment: Environment,
): Promise<Credentials> {
  if (username.includes(":")) throw new UsageError(`The user name ${username} contains a colon. No user name does.`);
  const password = passwordFile === undefined ? environment["TODOITEMS_PASSWORD"] : firstLine(passwordFile);
  if (password) return { username, password };
  if (!process.stdin.isTTY)
    throw new UsageError(
      `The password of ${username} is missing. Set TODOITEMS_PASSWORD, or use --password-file FILE.`,
    );
  const { askPasswordOnce } = await import("./password.ts");
  return { username, password: await askPasswordOnce(username) };
}

/** Some editors put a byte-order mark before the text, which the decoder leaves out. */
function firstLine(path: string): string {
  return new TextDecoder().decode(readFileSync(path)).split(/\r?\n/)[0] ?? "";
}

/**
 * A `fetch` that trusts one more certificate authority: the one in `caFile` or, for a server on this machine, the
 * development authority that `serve` creates.
 */
async function fetchFor(server: URL, caFile: string | undefined, environment: Environment) {
  const development = join(dataFolder(environment), "https", "authority.pem");
  const path = caFile ?? (isOnThisMachine(server) && existsSync(development) ? development : undefined);
  if (server.protocol !== "https:" || path === undefined) return fetch;
  const { rootCertificates } = await import("node:tls");
  const tls = { ca: [...rootCertificates, new TextDecoder().decode(readFileSync(path))] };
  return (url: string, init: RequestInit) => fetch(url, { ...init, tls });
}
