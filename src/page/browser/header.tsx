// The top line: the title, the state of the connection, and the buttons to sign in or out and to connect an app.

import type { Badge } from "../page-status.ts";
import { Mark } from "./icons.tsx";

interface HeaderProps {
  readonly badge: Badge;
  /** Undefined if nobody is signed in. */
  readonly username: string | undefined;
  readonly offersSignIn: boolean;
  readonly onSignIn: () => void;
  readonly onConnect: () => void;
}

export function Header({ badge, username, offersSignIn, onSignIn, onConnect }: HeaderProps) {
  return (
    <header>
      <h1>
        <Mark />
        todoitems
      </h1>
      <span class="badge" data-kind={badge.kind} role="status">
        {badge.text}
      </span>
      <span class="spring" />
      {username !== undefined && (
        <button type="button" class="quiet" onClick={() => location.reload()} data-control="sign-out">
          <span>
            Sign out<span class="wide"> {username}</span>
          </span>
        </button>
      )}
      {offersSignIn && (
        <button type="button" class="quiet" onClick={onSignIn} data-control="sign-in">
          Sign in
        </button>
      )}
      <button type="button" class="quiet" onClick={onConnect} data-control="connect">
        <span>
          Connect<span class="wide"> your app</span>
        </span>
      </button>
    </header>
  );
}
