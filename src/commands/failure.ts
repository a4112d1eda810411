// Turns an error into what the command prints (what happened, and what to do next) and its exit code.

import { type HttpError, hasStatus, isTodoError, type TodoClientError } from "../client/errors.ts";
import { StoreError } from "../collection/engine.ts";
import { SqliteStoreError } from "../engines/sqlite/sqlite-errors.ts";
import { isSystemError, systemReason } from "../files/system-reason.ts";
import { StartError } from "../serve/serve.ts";
import { asTyped } from "../terminal/program-name.ts";
import { printable } from "../terminal/text.ts";
import { UsageError } from "./command.ts";
import { HttpsExpected } from "./https-probe.ts";
import { isOnThisMachine, serveCommandFor, unknownNameCodes, withUsualPort } from "./server-address.ts";
import { certificateCode, certificateFaults, WrongAuthority } from "./trusting-fetch.ts";
import { asTypedHere } from "./typed-here.ts";

const exitCodes = { refused: 1, usage: 2, unreachable: 3, notKept: 4 } as const;

/** A failure that only the user can fix, such as a file that cannot be imported, or an ID that no item has. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
  readonly exitCode: number = exitCodes.refused;
}

/** The service is read-only. It answered as if the write had succeeded, but stored nothing. */
export class NotKeptError extends CommandError {
  override readonly name = "NotKeptError";
  override readonly exitCode = exitCodes.notKept;
}

/** The statuses that say that an item is wrong. Any other status has another reason, such as missing credentials. */
const itemStatuses: readonly number[] = [400, 413];

/** True if the service refused an item because of the item itself. Then the user can change the item, and try again. */
export function isRefusedItem(error: unknown): error is HttpError {
  return isTodoError(error, "HttpError") && itemStatuses.includes(error.status) && error.code !== undefined;
}

export function describeFailure(error: unknown): { message: string; exitCode: number } {
  if (error instanceof StartError) return error;
  if (error instanceof UsageError) return { message: error.message, exitCode: exitCodes.usage };
  if (error instanceof CommandError) {
    // If a command explains a failure in its own words, the original failure is the `cause`, and decides the exit code.
    const { cause } = error;
    const isExplained = isTodoError(cause) || cause instanceof CommandError;
    return { message: error.message, exitCode: isExplained ? describeFailure(cause).exitCode : error.exitCode };
  }
  if (error instanceof StoreError) {
    const isInUse = error instanceof SqliteStoreError && error.trouble === "in use";
    // The message may quote a database server.
    return { message: printable(error.message), exitCode: isInUse ? exitCodes.refused : exitCodes.unreachable };
  }
  if (isSystemError(error))
    return {
      message: `${"path" in error ? `${error.path}: ` : ""}${systemReason(error)}.`,
      exitCode: exitCodes.refused,
    };
  if (!isTodoError(error)) return { message: describeDefect(error), exitCode: exitCodes.refused };
  const unreachable =
    isTodoError(error, "NetworkError") || isTodoError(error, "TimeoutError") || isUnreachedService(error);
  return { message: explain(error), exitCode: unreachable ? exitCodes.unreachable : exitCodes.refused };
}

function describeDefect(error: unknown): string {
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `This is a defect in todoitems. Please report it, with these details:\n${details}`;
}

/**
 * What went wrong between us and the server, in words for people: without methods, status codes and system errors. What
 * the server said is made safe to print.
 */
export function explain(error: TodoClientError): string {
  return printable(explanationOf(error));
}

function explanationOf(error: TodoClientError): string {
  const server = serviceOf(error.url);
  if (isTodoError(error, "NetworkError")) return explainNetworkError(error, server);
  if (isTodoError(error, "TimeoutError")) return `${server} does not answer. Try again later.`;
  if (isTodoError(error, "HttpError") && error.code === "Redirect")
    return `${server}: ${error.detail}. Give that address with --server URL.`;
  if (hasStatus(error, 401)) return explainUnauthorized(error.hadCredentials, server);
  if (hasStatus(error, 404) && !error.url.endsWith("/"))
    return `There is no item with this ID. ${asTypedHere("list")} shows the items.`;
  if (isTodoError(error, "HttpError") && error.code === "RouteNotFound")
    return `${error.url}: there are no to-do items at this address. Check the address, or give another one with --server URL.`;
  if (hasStatus(error, 405)) return `${server} does not accept this.${otherFormAdvice(error)}`;
  if (isTodoError(error, "PreconditionFailedError"))
    return `Somebody else changed the item in the meantime, so your change was not stored. ${asTypedHere("show ID")} prints the item as it is now.`;
  if (hasStatus(error, 409))
    return `An item with this ID exists already. Choose another ID, or change that item with ${asTypedHere("edit ID")}`;
  if (isTodoError(error, "HttpError") && error.code !== undefined) return `${server} refused this: ${error.detail}`;
  if (isUnreachedService(error))
    return `${server} answers with ${error.status}: the service behind this address cannot be reached. Check that it is running, or try again later.`;
  const meant = isOnThisMachine(new URL(server)) ? withUsualPort(new URL(server)) : undefined;
  const advice = meant
    ? `Did you mean --server ${meant}?`
    : "Check the address, or give another one with --server URL.";
  return `The answer from ${server} is not that of a to-do service. ${advice}`;
}

/** The address of a service, from the address of one of its requests. A proxy may put a prefix before our paths. */
function serviceOf(url: string): string {
  const { pathname } = new URL(url);
  const end = Math.max(...["/api/todoitems", "/changes/"].map((path) => pathname.lastIndexOf(path)), 0);
  return new URL(pathname.slice(0, end + 1), url).href;
}

/** True if a proxy answers, because it does not reach the service. Answers of the service itself have a code. */
function isUnreachedService(error: TodoClientError): error is HttpError {
  return isTodoError(error, "HttpError") && error.code === undefined && [502, 503, 504].includes(error.status);
}

/** Where a user name is taken from. */
export const nameAdvice = "Give the name with --username NAME or TODOITEMS_USERNAME.";

function explainUnauthorized(hadCredentials: boolean, server: string): string {
  if (!hadCredentials && process.env["TODOITEMS_PASSWORD"])
    return `${server} needs a user name, too: only TODOITEMS_PASSWORD is set. ${nameAdvice}`;
  const problem = hadCredentials
    ? `The name or the password is wrong for ${server}.`
    : `${server} needs a user name and a password.`;
  return `${problem} ${nameAdvice} The password is asked for, or read from TODOITEMS_PASSWORD or --password-file FILE.`;
}

/** The other form, if this request is different there. In form A, the path of every write contains the item's ID. */
function otherFormAdvice({ method, url }: TodoClientError): string {
  if (method !== "POST" && method !== "PUT") return "";
  const other = url.endsWith("/") ? "a" : "b";
  return ` Perhaps it expects the item's ID in another place: try --form ${other}.`;
}

function explainNetworkError({ cause }: Error, server: string): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const { fault, advice } = certificateFaults.get(code) ?? {};
  if (fault !== undefined) return `The certificate of ${server} ${fault}. ${advice}`;
  const authorityAdvice = `For a development certificate, ${asTyped("certificate")} shows that file on the machine of the service.`;
  if (cause instanceof WrongAuthority)
    return `The certificate of ${server} was not signed by the authority in ${cause.file}. Give the file of its own authority with --ca FILE. ${authorityAdvice}`;
  if (certificateCode.test(code))
    return `The certificate of ${server} is not trusted. Give the file of its authority with --ca FILE. ${authorityAdvice}`;
  if (code === "EPROTO")
    return `${server} does not use HTTPS. Use ${server.replace("https:", "http:")} instead, with --server.`;
  if (cause instanceof HttpsExpected)
    return `${server} uses HTTPS. Use ${server.replace("http:", "https:")} instead, with --server.`;
  if (unknownNameCodes.includes(code)) return `No server called ${new URL(server).host} was found. Check the address.`;
  if (code === "ECONNREFUSED") return nothingAnswers(new URL(server));
  return `The connection to ${server} failed. Check that the service is running, and that the address is right.`;
}

function nothingAnswers(server: URL): string {
  const meant = withUsualPort(server);
  if (meant) return `Nothing answers at ${server}, which is port 80. Did you mean --server ${meant}?`;
  const start = isOnThisMachine(server)
    ? `Start the service with ${serveCommandFor(server)}`
    : "Start the service there";
  return `Nothing answers at ${server}. ${start}, or give another address with --server URL.`;
}
