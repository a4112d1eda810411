// Turns an error into what the command prints (what happened, and what to do next) and its exit code.

import { hasStatus, isTodoError, type TodoClientError } from "../../client/errors.ts";
import { StoreError } from "../../collection/engine.ts";
import { isSystemError, systemReason } from "../../files/system-reason.ts";
import { explainFixable } from "../../serve/advice.ts";
import { asTyped } from "../../terminal/program-name.ts";
import { printable } from "../../terminal/text.ts";
import { CommandError } from "./errors.ts";

const unreachable = 3;

/** The code of the error if the service is read-only: it returned a success, but stored nothing. */
export const notKept = "NotKept";

interface Failure {
  readonly message: string;
  readonly exitCode: number;
}

export function describeFailure(error: unknown): Failure {
  // The message may quote a server, so it is made safe to print.
  if (isTodoError(error)) return { message: printable(explain(error)), exitCode: exitCodeOf(error) };
  const explained = explainFixable(error);
  if (explained !== undefined) {
    const isAway = error instanceof StoreError && !("trouble" in error && error.trouble === "in use");
    return { message: printable(explained), exitCode: isAway ? unreachable : 1 };
  }
  // If a command explains a failure in its own words, the original failure decides the exit code.
  if (error instanceof CommandError && isTodoError(error.cause))
    return { message: error.message, exitCode: exitCodeOf(error.cause) };
  if (error instanceof Error && "exitCode" in error)
    return { message: error.message, exitCode: Number(error.exitCode) };
  if (isSystemError(error))
    return { message: `${"path" in error ? `${error.path}: ` : ""}${systemReason(error)}.`, exitCode: 1 };
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message: `This is a defect in todoitems. Please report it, with these details:\n${details}`, exitCode: 1 };
}

function exitCodeOf(error: TodoClientError): number {
  if (isTodoError(error, "HttpError") && error.code === notKept) return 4;
  return whyAway(error) === undefined ? 1 : unreachable;
}

/** Why the service was not reached. Undefined if it was. A proxy responds for it with a status, without a code of ours. */
function whyAway(error: TodoClientError): string | undefined {
  if (isTodoError(error, "TimeoutError")) return "no response";
  if (hasStatus(error, 502, 503, 504) && error.code === undefined) return `status ${error.status}`;
  if (!isTodoError(error, "NetworkError")) return undefined;
  return error.cause instanceof Error && "code" in error.cause ? String(error.cause.code) : "no connection";
}

/** Matches the error codes of a certificate that is not trusted. */
const certificateCode = /CERT|ISSUER|SIGNED|SIGNATURE/;

/** What went wrong between us and the server, in words for people. */
function explain(error: TodoClientError): string {
  const server = new URL("/", error.url).href;
  const otherAddress = "give another address with --server URL.";
  const reason = whyAway(error);
  if (reason !== undefined && certificateCode.test(reason))
    return `The certificate of ${server} is not trusted (${reason}). If an authority of your own signed it, give the authority's file with --ca FILE.`;
  if (reason !== undefined) {
    // This is how a port for HTTPS answers to plain HTTP, and a port for plain HTTP to TLS.
    const isReset = reason === "ECONNRESET" && server.startsWith("http:");
    let hint = isReset ? ` If this is a port for HTTPS: --server ${server.replace("http:", "https:")}` : "";
    if (reason === "EPROTO") hint = ` If this is a port for plain HTTP: --server ${server.replace("https:", "http:")}`;
    return `${server} cannot be reached (${reason}). Start the service with ${asTyped("serve")}, or ${otherAddress}${hint}`;
  }
  if (isTodoError(error, "HttpError")) {
    const { status, code, detail, hadCredentials } = error;
    if (code === notKept)
      return `${server} is read-only: it accepted this, but stored nothing. Start the service without --read-only and --demo, or ${otherAddress}`;
    if (status === 401)
      return `${hadCredentials ? `The name or the password is wrong for ${server}, or the token is not valid or has expired.` : `${server} needs a user name and a password, or a token.`} Give the name with --user NAME or TODOITEMS_USER. The password is asked for, or read from TODOITEMS_PASSWORD or --password-file FILE. If the service takes tokens, put one into TODOITEMS_TOKEN.`;
    const isOfLists = error.url.endsWith("/lists");
    if (code === "RouteNotFound" && isOfLists)
      return `${server} has one list. To have more, start it with --lists many or --lists user.`;
    if (code === "RouteNotFound" && /\/lists(?:\/|$)/i.test(error.url))
      return `${server} has no such list. It has more than one if it was started with --lists many or user. The name of a list has up to 64 letters, digits, hyphens, underscores and dots.`;
    if (status === 404 && !isOfLists && !error.url.endsWith("/"))
      return `There is no item with the ID ${error.url.split("/").at(-1)}. ${asTyped("list")} shows the items.`;
    if (status === 412)
      return `Somebody else changed the item in the meantime, so your change was not stored. Try again.`;
    if (status === 409) return `An item with this ID exists already. Choose another ID, or change that item with edit.`;
    if (code === "MethodNotAllowed")
      return `${server} wants the ID of an item elsewhere. Try again with --form ${error.url.endsWith("/") ? "a" : "b"}.`;
    if (code !== undefined && code !== "RouteNotFound") return `${server} refused this: ${detail}`;
  }
  return `The response of ${server} is not that of a to-do service. Check the address, or ${otherAddress}`;
}
