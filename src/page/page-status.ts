// What the page says about its connection and about edits that the service has not confirmed: a badge of one word, and
// at most one line. The line names what the user can do about it.

import { isTodoError } from "../client/index.ts";
import type { OfflineSnapshot, OfflineStatus, PendingEdit } from "../client/offline.ts";

export interface Badge {
  readonly kind: "live" | "busy" | "away";
  readonly text: string;
}

export type StatusLine =
  | { readonly kind: "signed-out"; readonly count: number }
  | { readonly kind: "held"; readonly count: number }
  | { readonly kind: "conflict"; readonly edit: PendingEdit<string>; readonly count: number }
  | { readonly kind: "refused"; readonly edit: PendingEdit<string> }
  | { readonly kind: "away"; readonly text: string };

export function badgeOf({ connection, needsCredentials }: OfflineStatus): Badge {
  if (needsCredentials) return { kind: "away", text: "Not signed in" };
  if (connection.kind === "live" || connection.kind === "polling") return { kind: "live", text: "Live" };
  if (connection.kind === "lost") return { kind: "away", text: "Offline" };
  if (connection.kind === "failed") return { kind: "away", text: "Not available" };
  return { kind: "busy", text: "Connecting" };
}

/** The most important thing to say. Undefined if all is well. `isKept`: unsent edits survive a reload. */
export function statusLine({ pending, status }: OfflineSnapshot<string>, isKept: boolean): StatusLine | undefined {
  const { connection, needsCredentials, storageError } = status;
  const count = pending.length;
  const inState = (state: PendingEdit<string>["state"]) => pending.filter((edit) => edit.state === state);
  const [[conflict], [refused], held] = [inState("conflict"), inState("refused"), inState("held")];
  if (needsCredentials) return { kind: "signed-out", count };
  if (held.length > 0) return { kind: "held", count: held.length };
  if (conflict) return { kind: "conflict", edit: conflict, count: inState("conflict").length };
  if (refused) return { kind: "refused", edit: refused };
  if ("error" in connection) return { kind: "away", text: awayText(connection.error, count, isKept) };
  if (storageError === undefined || count === 0) return undefined;
  return { kind: "away", text: `${editCount(count)} waiting. ${problemText(storageError)}` };
}

/**
 * Why there is no connection, how many edits wait for it, and that they are gone with the tab if nothing keeps them. A
 * phone has room for about 30 letters.
 */
function awayText(error: unknown, count: number, isKept: boolean): string {
  if (count === 0) return problemText(error);
  const waiting = `${editCount(count)} waiting ${isKept ? "for the service" : "in this tab"}`;
  return isUnreachable(error) ? waiting : `${waiting}. ${problemText(error)}`;
}

function isUnreachable(error: unknown): boolean {
  return isTodoError(error, "NetworkError") || isTodoError(error, "TimeoutError");
}

/** Why a request failed, for people. */
export function problemText(error: unknown): string {
  if (isTodoError(error, "HttpError")) return error.detail || `The service returned ${error.status}.`;
  if (isUnreachable(error)) return "The service cannot be reached.";
  if (error instanceof DOMException) return `This device cannot keep more. ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

export function editCount(count: number): string {
  return count === 1 ? "1 edit" : `${count.toLocaleString("en")} edits`;
}
