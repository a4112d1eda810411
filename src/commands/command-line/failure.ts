// Turns an error into what the command prints (what happened, and what to do next) and its exit code.

import { hasStatus, isTodoError, type TodoClientError } from "../../client/errors.ts";
import { StoreError } from "../../collection/engine.ts";
import { isSystemError, systemReason } from "../../files/system-reason.ts";
import { asTyped } from "../../terminal/program-name.ts";
import { printable } from "../../terminal/text.ts";
import { CommandError } from "./errors.ts";

const unreachable = 3;

interface Failure {
  readonly message: string;
  readonly exitCode: number;
}

export function describeFailure(error: unknown): Failure {
  if (isTodoError(error)) return { message: explain(error), exitCode: isAway(error) ? unreachable : 1 };
  if (error instanceof StoreError) {
    const isInUse = "trouble" in error && error.trouble === "in use";
    // The message may quote a database server.
    return { message: printable(error.message), exitCode: isInUse ? 1 : unreachable };
  }
  // If a command explains a failure in its own words, the original failure decides the exit code.
  if (error instanceof CommandError && (isTodoError(error.cause) || error.cause instanceof CommandError))
    return { message: error.message, exitCode: describeFailure(error.cause).exitCode };
  if (error instanceof Error && "exitCode" in error)
    return { message: error.message, exitCode: Number(error.exitCode) };
  if (isSystemError(error))
    return { message: `${"path" in error ? `${error.path}: ` : ""}${systemReason(error)}.`, exitCode: 1 };
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message: `This is a defect in todoitems. Please report it, with these details:\n${details}`, exitCode: 1 };
}

/** True if the service was not reached. A proxy answers for it with one of these statuses, without a code of ours. */
function isAway(error: TodoClientError): boolean {
  if (hasStatus(error, 502, 503, 504)) return error.code === undefined;
  return isTodoError(error, "NetworkError") || isTodoError(error, "TimeoutError");
}

/** What went wrong between us and the server, in words for people. What the server said is made safe to print. */
export function explain(error: TodoClientError): string {
  return printable(explanationOf(error, new URL("/", error.url).href));
}

function explanationOf(error: TodoClientError, server: string): string {
  if (isTodoError(error, "NetworkError")) return explainNetworkError(error, server);
  if (isTodoError(error, "TimeoutError")) return `${server} does not respond. Try again later.`;
  const otherAddress = "Check the address, or give another one with --server URL.";
  if (!isTodoError(error, "HttpError"))
    return `The response of ${server} is not that of a to-do service. ${otherAddress}`;
  const { status, code, detail, hadCredentials } = error;
  if (code === "Redirect") return `${server}: ${detail}. Give that address with --server URL.`;
  if (status === 401)
    return `${hadCredentials ? `The name or the password is wrong for ${server}.` : `${server} needs a user name and a password.`} Give the name with --user NAME or TODOITEMS_USER. The password is asked for, or read from TODOITEMS_PASSWORD or --password-file FILE.`;
  if (status === 404 && !error.url.endsWith("/"))
    return `There is no item with this ID. ${asTyped("list")} shows the items.`;
  if (status === 412)
    return `Somebody else changed the item in the meantime, so your change was not stored. Try again.`;
  if (status === 409) return `An item with this ID exists already. Choose another ID, or change that item with edit.`;
  if (code !== undefined && code !== "RouteNotFound") return `${server} refused this: ${detail}`;
  if (isAway(error)) return `${server} returns ${status}: the service behind this address cannot be reached.`;
  return `The response of ${server} (status ${status}) is not that of a to-do service. ${otherAddress}`;
}

/** Matches the error codes of a certificate that is not trusted. */
const certificateCode = /CERT|ISSUER|SIGNED|SIGNATURE/;

function explainNetworkError({ cause }: Error, server: string): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (certificateCode.test(code))
    return `The certificate of ${server} is not trusted (${code}). If an authority of your own signed it, give the authority's file with --ca FILE.`;
  if (code === "ECONNREFUSED")
    return `Nothing answers at ${server} Start the service with ${asTyped("serve")}, or give another address with --server URL.`;
  return `The connection to ${server} failed${code === "" ? "" : ` (${code})`}. Check that the service is running, and that the address is right, with http or https.`;
}
