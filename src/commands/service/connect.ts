// Makes the client with which a command talks to a service: with the right credentials, and with trust in the right
// certificate authority.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Credentials } from "../../client/basic.ts";
import { jsonText } from "../../client/codecs.ts";
import { TodoClient } from "../../client/todo-client.ts";
import { dataFolder } from "../../credentials/data-folder.ts";
import { isNotKept } from "../../items/token.ts";
import type { Environment } from "../../terminal/environment.ts";
import { type Arguments, type Command, defineCommand } from "../command-line/command.ts";
import { UsageError } from "../command-line/errors.ts";
import { notKept } from "../command-line/failure.ts";
import { remark } from "../command-line/output.ts";
import { connectionFlags } from "./connection-flags.ts";
import { isOnThisMachine, parseServer } from "./server-address.ts";

/** After this time without a response, the user is told that the program is not to blame. */
const patienceMs = 10_000;

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
export async function connect(args: Arguments, environment: Environment): Promise<TodoClient<string>> {
  const server = parseServer(args.setting("server") ?? "http://127.0.0.1:5000/");
  const form = args.setting("form") ?? "b";
  if (form !== "a" && form !== "b") throw new UsageError(`The form ${form} does not exist. Use a or b.`);
  const username = args.setting("user");
  const credentials =
    username === undefined ? undefined : await credentialsOf(username, args.setting("password-file"), environment);
  const token = environment["TODOITEMS_TOKEN"]?.trim();
  if (token && !/^[\x21-\x7e]+$/.test(token))
    throw new UsageError("TODOITEMS_TOKEN is not a token: it has a space, a line break, or a character beyond ASCII.");
  const signIn = token && !credentials ? { token: () => token } : { credentials };
  if ((token || credentials) && server.protocol === "http:" && !isOnThisMachine(server))
    remark(
      `warning: The ${credentials ? "password" : "token"} is sent to ${server.host} unencrypted. Use an https address if there is one.`,
    );
  const tls = await trustedAuthorities(server, args.setting("ca"), environment);
  const send = async (url: string, init: RequestInit) => {
    const timer = setTimeout(() => remark(`${server} does not respond yet. Still waiting …`), patienceMs);
    try {
      return orNotKept(await fetch(url, { ...init, ...tls }));
    } finally {
      clearTimeout(timer);
    }
  };
  return new TodoClient(server, { codec: jsonText, form, ...signIn, fetch: send });
}

async function credentialsOf(
  username: string,
  passwordFile: string | undefined,
  environment: Environment,
): Promise<Credentials> {
  if (username.includes(":")) throw new UsageError(`The user name ${username} contains a colon. No user name does.`);
  // Some editors put a byte-order mark before the text, which the decoder leaves out.
  const text = passwordFile === undefined ? undefined : new TextDecoder().decode(readFileSync(passwordFile));
  const password = text?.split(/\r?\n/)[0] ?? environment["TODOITEMS_PASSWORD"];
  if (password) return { username, password };
  if (!process.stdin.isTTY)
    throw new UsageError(
      `The password of ${username} is missing. Set TODOITEMS_PASSWORD, or use --password-file FILE.`,
    );
  const { askPassword } = await import("./password.ts");
  return { username, password: await askPassword(username, false) };
}

/**
 * Makes `fetch` trust one more certificate authority: the one in `caFile` or, for a server on this machine, the
 * development authority that `serve` creates.
 */
async function trustedAuthorities(server: URL, caFile: string | undefined, environment: Environment) {
  const development = join(dataFolder(environment), "https", "authority.pem");
  const path = caFile ?? (isOnThisMachine(server) && existsSync(development) ? development : undefined);
  if (server.protocol !== "https:" || path === undefined) return {};
  const { rootCertificates } = await import("node:tls");
  return { tls: { ca: [...rootCertificates, new TextDecoder().decode(readFileSync(path))] } };
}

/** A read-only service returns a success, but stores nothing. No command may report that as a success. */
function orNotKept(response: Response): Response {
  return isNotKept(response.headers.get("etag")) ? Response.json({ code: notKept }, { status: 403 }) : response;
}
