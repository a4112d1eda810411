// The top line: the title, the state of the connection, and buttons to sign in or out, to open the connect panel and to
// list the shortcuts.

import type { ConnectionState } from "../followed-list.ts";
import type { PageSettings } from "../page-settings.ts";
import type { Session } from "../session.ts";
import { offersSignIn } from "./banners.tsx";
import { Mark, PlugIcon } from "./icons.tsx";

const states: Record<ConnectionState | "unanswered" | "refused", string> = {
  connecting: "Connecting",
  live: "Live",
  unanswered: "No answer yet",
  lost: "Offline",
  refused: "Not available",
  "signed-out": "Not signed in",
};

interface HeaderProps {
  readonly session: Session;
  readonly settings: PageSettings;
  readonly onOpen: (what: "connect" | "shortcuts") => void;
  readonly onSignOut: () => void;
}

export function Header({ session, settings, onOpen, onSignOut }: HeaderProps) {
  const { list, signIn } = session;
  const connection = session.isUnanswered ? "unanswered" : list.connection;
  const state = connection === "lost" && list.refusal !== undefined ? "refused" : connection;
  const { username } = signIn;
  return (
    <header>
      <h1>
        <Mark />
        todoitems
      </h1>
      <span class="connection" data-connection={connection} role="status">
        {states[state]}
      </span>
      <span class="spring" />
      {username !== undefined && !signIn.form && (
        <button type="button" class="quiet" onClick={onSignOut} data-control="sign-out">
          Sign out <span class="wide">{username}</span>
        </button>
      )}
      {settings.auth !== "off" && username === undefined && !offersSignIn(session) && (
        <button type="button" class="quiet" onClick={() => signIn.openForm()} data-control="sign-in">
          Sign in
        </button>
      )}
      <button type="button" class="quiet" onClick={() => onOpen("connect")} data-control="connect">
        <PlugIcon />
        <span>
          Connect<span class="wide"> your app</span>
        </span>
      </button>
      <button
        type="button"
        class="bare wide"
        onClick={() => onOpen("shortcuts")}
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts"
        data-control="shortcuts"
      >
        ?
      </button>
    </header>
  );
}
