// The top line: the title, which opens the lists if there are several, the state of the connection, and the buttons to sign in or out and to connect an app.

import type { Badge } from "../page-status.ts";
import { Icon, Mark } from "./icons.tsx";

interface HeaderProps {
  readonly title: string;
  readonly badge: Badge;
  /** Undefined if nobody is signed in. */
  readonly username: string | undefined;
  readonly offersSignIn: boolean;
  /** Undefined if the service has one list. */
  readonly onLists: (() => void) | undefined;
  readonly onSignIn: () => void;
  readonly onSignOut: () => void;
  readonly onConnect: () => void;
}

export function Header(props: HeaderProps) {
  const { title, badge, username, offersSignIn, onLists, onSignIn, onSignOut, onConnect } = props;
  return (
    <header>
      <div class="heading">
        <h1>
          <Mark />
          {onLists ? (
            <button type="button" class="quiet" onClick={onLists} title="Lists" data-control="lists">
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
        <button type="button" class="quiet" onClick={onSignOut} data-control="sign-out">
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
