// Turns an error into what the command prints (what happened, and what to do next) and its exit code.

import { isTodoError } from "../client/errors.ts";
import { StoreError } from "../collection/engine.ts";
import { UsageError } from "./command.ts";

const exitCodes = { refused: 1, usage: 2, unreachable: 3 } as const;

/** A failure that only the user can fix: a file that cannot be imported, an ID that no item has. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** The message and the exit code for an error. Undefined if the error is not of an expected kind. */
export function describeFailure(error: unknown): { message: string; exitCode: number } | undefined {
  if (error instanceof UsageError) return { message: error.message, exitCode: exitCodes.usage };
  if (error instanceof CommandError) return { message: error.message, exitCode: exitCodes.refused };
  if (error instanceof StoreError) return { message: error.message, exitCode: exitCodes.unreachable };
  if (!isTodoError(error)) return undefined;
  const unreachable = isTodoError(error, "NetworkError") || isTodoError(error, "TimeoutError");
  return {
    message: [error.message, ...advice(error)].join("\n"),
    exitCode: unreachable ? exitCodes.unreachable : exitCodes.refused,
  };
}

function advice(error: Error): string[] {
  if (isTodoError(error, "NetworkError"))
    return /certificate|issuer|self.signed/i.test(error.message)
      ? ["The server's certificate is not trusted. Give the authority's file with --ca FILE."]
      : ["Nobody answers there. Is the service running (todoitems serve)? Another address is given with --server URL."];
  if (isTodoError(error, "TimeoutError")) return ["The server takes too long. Try again later."];
  if (isTodoError(error, "UnauthorizedError"))
    return ["Say who you are with --username NAME; the password is asked for, or read from TODOITEMS_PASSWORD."];
  if (isTodoError(error, "NotFoundError")) return ["todoitems list shows which items there are."];
  if (isTodoError(error, "MethodNotAllowedError"))
    return ["Perhaps this service expects IDs elsewhere: try --form a, or --form b."];
  if (isTodoError(error, "PreconditionFailedError"))
    return ["Somebody changed the item in the meantime. Look at it with todoitems show, and try again."];
  if (isTodoError(error, "RedirectError")) return ["Give that address with --server."];
  if (isTodoError(error, "InvalidResponseError"))
    return ["That does not look like a to-do service. Is the address right?"];
  return [];
}
