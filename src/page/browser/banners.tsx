// Banners for what the user must know or decide: the service is read-only or cannot be reached, changes wait for a
// sign-in, or changes may belong to another store.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Session } from "../session.ts";
import { WarningIcon } from "./icons.tsx";

/** If the connection is lost for less than this time, no banner appears. */
const graceMs = 700;
/** If the first connection takes longer than this time, a banner says why that may be. */
const connectingMs = 5_000;

export function Banners({ session }: { session: Session }) {
  const { list, outbox, signIn, decisions } = session;
  const { connection, loaded, readOnly, refusal } = list;
  const { sendableCount, unsentCount, pausedCount } = outbox;
  const { heldNames } = decisions;
  const offline = useDelayed(connection === "lost", graceMs);
  const isForeign = outbox.held.some((entry) => entry.isForeign);
  const owner = outbox.held.find((entry) => entry.owner !== undefined)?.owner;
  const slow = useDelayed(connection === "connecting", connectingMs);
  return (
    <>
      {readOnly && (
        <p class="banner" data-banner="read-only">
          <span>
            <strong>Read-only.</strong> Try anything you like: the service answers as usual and keeps nothing.
            {pausedCount > 0 && ` ${changes(pausedCount)} kept in this browser until it keeps changes again.`}
          </span>
        </p>
      )}
      <div role="status">
        {offline && (
          <Warning
            kind="offline"
            text={
              refusal === undefined ? "The service cannot be reached." : `The service cannot show the list: ${refusal}`
            }
            detail={waiting(sendableCount, refusal === undefined)}
          >
            <button type="button" onClick={() => session.reconnect()}>
              Try now
            </button>
          </Warning>
        )}
        {slow && (
          <Warning
            kind="slow"
            text="The service has not answered yet."
            detail="If this page is open in many tabs or windows, close some of them: a browser has six connections for all."
          >
            <button type="button" onClick={() => session.reconnect()}>
              Try now
            </button>
          </Warning>
        )}
        {offersSignIn(session) && (
          <Warning
            kind="sign-in"
            text={[signIn.problem, unsentCount > 0 && `${changes(unsentCount)} not sent.`].filter(Boolean).join(" ")}
            detail={
              unsentCount > 0
                ? `Sign in to send${loaded ? "" : " and to see the list"}, or go on: what you typed stays here.`
                : "Sign in to see the list as it is now."
            }
          >
            <button type="button" onClick={() => signIn.openForm()}>
              Sign in
            </button>
            {unsentCount > 0 && (
              <button type="button" class="quiet" onClick={() => decisions.discardUnsent()}>
                Discard
              </button>
            )}
          </Warning>
        )}
        {heldNames.length > 0 && (
          <Warning
            kind="held"
            text={`${changes(heldNames.length)} ${heldReason(isForeign, owner)}:`}
            detail={listed(heldNames)}
          >
            <button type="button" onClick={() => decisions.decideHeld("send")}>
              {isForeign ? "Send to this list" : "Send now"}
            </button>
            <button type="button" class="quiet" onClick={() => decisions.decideHeld("discard")}>
              Discard
            </button>
          </Warning>
        )}
      </div>
    </>
  );
}

/** True if a banner has a sign-in button: edits wait for a sign-in, or the service has refused the user's password. */
export function offersSignIn({ signIn, outbox }: Session): boolean {
  return signIn.isPostponed && (outbox.unsentCount > 0 || signIn.problem !== undefined);
}

/** Returns true once the condition has been true for this time without a break. */
function useDelayed(condition: boolean, delayMs: number): boolean {
  const [isTrue, setTrue] = useState(false);
  useEffect(() => {
    if (!condition) {
      setTrue(false);
      return undefined;
    }
    const timer = setTimeout(() => setTrue(true), delayMs);
    return () => clearTimeout(timer);
  }, [condition, delayMs]);
  return isTrue;
}

function Warning(props: { kind: string; text: string; detail: string; children: ComponentChildren }) {
  return (
    <div class="banner warning" data-banner={props.kind}>
      <WarningIcon />
      <span>
        <strong>{props.text}</strong> {props.detail}
      </span>
      <span class="buttons">{props.children}</span>
    </div>
  );
}

function heldReason(isForeign: boolean, owner: string | undefined): string {
  if (isForeign) return "not sent, and may be for another list";
  // Without a name, nobody had signed in.
  if (!owner) return "kept from before, and not sent until you say so";
  return `kept for ${owner}, and not sent until ${owner} signs in again or you say so`;
}

function waiting(count: number, isGone: boolean): string {
  const safe = count === 0 ? "You can go on: changes are" : changes(count);
  const kept = `${safe} kept in this browser and sent, in order, when it is back.`;
  return isGone ? `${kept} Until then, this page cannot be reloaded.` : kept;
}

function changes(count: number): string {
  return count === 1 ? "1 change is" : `${count.toLocaleString("en")} changes are`;
}

function listed(names: readonly string[]): string {
  const more = names.length - 3;
  return `${names.slice(0, 3).join(", ")}${more > 0 ? ` and ${more} more` : ""}.`;
}
