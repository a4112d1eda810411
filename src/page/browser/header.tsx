// The top line: the title, the state of the connection, who is signed in, and a button that opens the connect panel.

import type { ConnectionState, Session } from "../session.ts";
import { Mark, PlugIcon } from "./icons.tsx";

const states: Record<ConnectionState, string> = { connecting: "Connecting", live: "Live", lost: "Offline" };

export function Header({ session, onConnect }: { session: Session; onConnect: () => void }) {
  const { connection, username } = session;
  return (
    <header>
      <h1>
        <Mark />
        todoitems
      </h1>
      <span class="connection" data-connection={connection} role="status">
        {states[connection]}
      </span>
      <span class="spring" />
      {username !== undefined && !session.signIn && (
        <button type="button" class="quiet" onClick={() => session.signOut()}>
          Sign out <span class="wide">{username}</span>
        </button>
      )}
      <button type="button" class="quiet" onClick={onConnect} data-control="connect">
        <PlugIcon />
        <span>
          Connect<span class="wide"> your app</span>
        </span>
      </button>
    </header>
  );
}
