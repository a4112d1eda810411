// The top line: the title, which opens the lists if there are several, the state of the connection, and the buttons to
// sign in or out and to connect an app.

import { badgeOf } from "../page-status.ts";
import { listTitle } from "./addresses.ts";
import { Icon, Mark } from "./icons.tsx";
import { usePage } from "./page-context.ts";

export function Header() {
  const { session, snapshot, isSignedOut, actions, open } = usePage();
  const { username, settings } = session;
  const { status } = snapshot;
  const title = listTitle(session.address.name);
  const badge = badgeOf(status);
  const takesPasswords = settings.auth !== "off" && !settings.tokensOnly;
  const signOut = async () => {
    const question = "Sign out? The edits that the service does not have yet are deleted.";
    if (!(await session.hasUnsentEdits()) || confirm(question)) await session.signOut();
  };
  return (
    <header>
      <div class="heading">
        <h1>
          <Mark />
          {settings.hasLists && !isSignedOut ? (
            <button
              type="button"
              class="quiet"
              onClick={() => open({ kind: "lists" })}
              title="Lists"
              data-control="lists"
            >
              <span class="one-line">{title}</span>
              <Icon name="down" />
            </button>
          ) : (
            <span class="one-line">{title}</span>
          )}
        </h1>
        <span class="badge" data-kind={badge.kind} role="status">
          {badge.text}
        </span>
      </div>
      {username !== undefined && (
        <button type="button" class="quiet" onClick={() => void actions.attempt(signOut)} data-control="sign-out">
          <span>
            Sign out<span class="wide"> {username}</span>
          </span>
        </button>
      )}
      {takesPasswords && username === undefined && !status.needsCredentials && !isSignedOut && (
        <button type="button" class="quiet" onClick={() => open({ kind: "sign-in" })} data-control="sign-in">
          Sign in
        </button>
      )}
      <button type="button" class="quiet" onClick={() => open({ kind: "connect" })} data-control="connect">
        <span>
          Connect<span class="wide"> your app</span>
        </span>
      </button>
    </header>
  );
}
