// Makes the client with which a command talks to a service: with the right credentials, and with trust in the right
// certificate authority.

import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Credentials } from "../client/basic.ts";
import type { RetryOptions } from "../client/client-options.ts";
import { jsonText } from "../client/codecs.ts";
import { TodoClient } from "../client/todo-client.ts";
import { systemReason } from "../files/system-reason.ts";
import type { Environment } from "../terminal/environment.ts";
import { dataFolder } from "../tls/data-folder.ts";
import { type Arguments, UsageError } from "./command.ts";
import { type ConnectionSettings, readConnection } from "./connection-sources.ts";
import { NotKeptError, nameAdvice } from "./failure.ts";
import { remarkingSlow } from "./fetch-remarks.ts";
import { fetchOrProbe } from "./https-probe.ts";
import { remark } from "./output.ts";
import { askPasswordOnce } from "./password.ts";
import { isOnThisMachine } from "./server-address.ts";
import { fetchTrusting } from "./trusting-fetch.ts";
import { warnOfUnknownVariables } from "./unknown-variables.ts";

/** A client that handles items as text, so that they are shown and stored exactly as they are. */
export async function connect(
  args: Arguments,
  environment: Environment,
  retry: RetryOptions = {},
): Promise<TodoClient<string>> {
  warnOfUnknownVariables(environment);
  const connection = readConnection(args, environment);
  const { server, form = "b" } = connection;
  if (form !== "a" && form !== "b") throw new UsageError(`The form ${form} does not exist. Use a or b.`);
  if (connection.username === undefined && args.has("password-file"))
    throw new UsageError(`--password-file needs a user name. ${nameAdvice}`);
  const credentials = await findCredentials(connection);
  if (credentials && server.protocol === "http:" && !isOnThisMachine(server))
    remark(`warning: The password is sent to ${server.host} unencrypted. Use an https address if there is one.`);
  return new CommandClient(server, {
    codec: jsonText,
    form,
    credentials,
    retry,
    fetch: remarkingSlow(fetchFrom(connection.ca, server, environment)),
  });
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

async function findCredentials(connection: ConnectionSettings): Promise<Credentials | undefined> {
  const { username, passwordFile } = connection;
  if (username === undefined) return undefined;
  if (username === "") throw new UsageError("The user name is empty. Leave out --username, or give a name.");
  if (username.includes(":")) throw new UsageError(`The user name ${username} contains a colon. No user name does.`);
  const password = passwordFile === undefined ? connection.password : readPassword(passwordFile);
  if (password !== undefined) return { username, password };
  if (process.stdin.isTTY) return { username, password: await askPasswordOnce(username) };
  throw new UsageError(`The password of ${username} is missing. Set TODOITEMS_PASSWORD, or use --password-file FILE.`);
}

/** Reads the first line of a file. Some editors put a byte-order mark before it, which the decoder leaves out. */
function readPassword(path: string): string {
  const [password = ""] = new TextDecoder().decode(readBytes(path)).split(/\r?\n/);
  if (password === "") throw new UsageError(`${path} has no password. Its first line must be the password.`);
  return password;
}

/**
 * A `fetch` that trusts one more certificate authority: the one in `caFile` or, for a server on this machine, the
 * development authority that `serve` creates.
 */
function fetchFrom(caFile: string | undefined, server: URL, environment: Environment) {
  const development = join(dataFolder(environment), "https", "authority.pem");
  const path = caFile ?? (isOnThisMachine(server) && existsSync(development) ? development : undefined);
  // A wrong `caFile` is refused even if the server does not use HTTPS. Otherwise the user would notice the mistake too
  // late.
  const isRead = path !== undefined && (caFile !== undefined || server.protocol === "https:");
  const authority = isRead ? readAuthority(path) : undefined;
  if (server.protocol !== "https:" || path === undefined || authority === undefined) return fetchOrProbe;
  return fetchTrusting(authority, path);
}

function readAuthority(path: string): string {
  const text = new TextDecoder().decode(readBytes(path));
  try {
    new X509Certificate(text);
    return text;
  } catch {
    throw new UsageError(
      `${path} is not a PEM certificate. Give the file of the certificate authority with --ca FILE.`,
    );
  }
}

function readBytes(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${systemReason(error)}.`);
  }
}
