// What the page says about its connection and about edits that the service has not confirmed: a badge of one word, and
// at most one line. The line names what the user can do about it.

import { isTodoError } from "../client/index.ts";
import type { OfflineItem, OfflineSnapshot, OfflineStatus, PendingEdit } from "../client/offline.ts";
import { quoted, viewItem } from "./item-view.ts";

export interface Badge {
  readonly kind: "live" | "busy" | "away";
  readonly text: string;
}

export interface StatusLine {
  readonly text: string;
  /** What the user can do about it. */
  readonly actions: readonly Action[];
}

/** A button. */
export interface Action {
  readonly label: string;
  readonly run: () => void;
}

/** What the actions of the line do. */
export interface Remedies {
  signIn(): void;
  retry(): void;
  sendAnyway(): void;
  decide(id: string): void;
  edit(id: string): void;
  /** Without an ID, discards all edits. */
  discard(id?: string): void;
}

export function badgeOf({ connection, needsCredentials }: OfflineStatus): Badge {
  if (needsCredentials) return { kind: "away", text: "Not signed in" };
  if (connection.kind === "live" || connection.kind === "polling") return { kind: "live", text: "Live" };
  if (connection.kind === "lost") return { kind: "away", text: "Offline" };
  if (connection.kind === "failed") return { kind: "away", text: "Not available" };
  return { kind: "busy", text: "Connecting" };
}

/** The most important thing to say. Undefined if all is well. `isKept`: unsent edits survive a reload. */
export function statusLine(
  { items, pending, status }: OfflineSnapshot<string>,
  isKept: boolean,
  remedies: Remedies,
): StatusLine | undefined {
  const { connection, needsCredentials, storageError } = status;
  const count = pending.length;
  const inState = (state: PendingEdit<string>["state"]) => pending.filter((edit) => edit.state === state);
  const [conflicts, refusals, held] = [inState("conflict"), inState("refused"), inState("held")];
  const [[conflict], [refused]] = [conflicts, refusals];
  if (needsCredentials)
    return {
      text: count > 0 ? `Sign in to send ${editCount(count)}` : "Please sign in",
      actions: [{ label: "Sign in", run: () => remedies.signIn() }],
    };
  if (held.length > 0)
    return {
      text: `The service has another store now. ${editCount(held.length)} from before wait.`,
      actions: [
        { label: "Send them", run: () => remedies.sendAnyway() },
        { label: "Discard", run: () => remedies.discard() },
      ],
    };
  if (conflict) {
    const what = conflicts.length > 1 ? `${conflicts.length} items were` : `${nameOf(conflict, items)} was`;
    return {
      text: `${what} changed elsewhere, too`,
      actions: [{ label: "Decide", run: () => remedies.decide(conflict.id) }],
    };
  }
  if (refused) {
    const isRemoval = refused.kind === "remove";
    const isOne = refusals.length === 1;
    const name = isRemoval ? "An item" : nameOf(refused, items);
    const what = isOne ? `${name} was` : `${name} and ${(refusals.length - 1).toLocaleString("en")} more were`;
    const verb = refusals.every(({ kind }) => kind === "remove") ? "deleted" : "saved";
    const discard = () => {
      for (const { id } of refusals) remedies.discard(id);
    };
    return {
      text: `${what} not ${verb}: ${refused.problem?.detail ?? ""}`,
      actions: [
        ...(isRemoval ? [] : [{ label: "Edit", run: () => remedies.edit(refused.id) }]),
        { label: isOne ? "Discard" : "Discard all", run: discard },
      ],
    };
  }
  const actions = [{ label: "Try now", run: () => remedies.retry() }];
  if ("error" in connection) return { text: awayText(connection.error, count, isKept), actions };
  if (storageError === undefined || count === 0) return undefined;
  return { text: `${editCount(count)} waiting. ${problemText(storageError)}`, actions };
}

/** The name of the item that an edit is about, in quotes. */
function nameOf({ id, conflict }: PendingEdit<string>, items: readonly OfflineItem<string>[]): string {
  const json = items.find((item) => item.id === id)?.item ?? conflict?.base;
  return quoted(json === undefined ? "" : viewItem(json).name);
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

function editCount(count: number): string {
  return count === 1 ? "1 edit" : `${count.toLocaleString("en")} edits`;
}
