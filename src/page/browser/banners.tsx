// Banners for what the user must know before typing: the instance is read-only, or the service cannot be reached.

import { useEffect, useState } from "preact/hooks";
import type { Session } from "../session.ts";
import { WarningIcon } from "./icons.tsx";

/** If the connection is lost for less than this time, no banner appears. */
const graceMs = 700;

export function Banners({ session }: { session: Session }) {
  const { connection, readOnly, unsentCount } = session;
  const [offline, setOffline] = useState(false);
  useEffect(() => {
    if (connection !== "lost") {
      setOffline(false);
      return undefined;
    }
    const timer = setTimeout(() => setOffline(true), graceMs);
    return () => clearTimeout(timer);
  }, [connection]);
  return (
    <>
      {readOnly && (
        <p class="banner" data-banner="read-only">
          <strong>Read-only instance.</strong> Changes are accepted but not kept.
        </p>
      )}
      <div role="status">
        {offline && (
          <p class="banner warning" data-banner="offline">
            <WarningIcon />
            <span>
              <strong>The service cannot be reached.</strong> {waiting(unsentCount)}
            </span>
            <button type="button" onClick={() => session.reconnect()}>
              Try now
            </button>
          </p>
        )}
      </div>
    </>
  );
}

function waiting(count: number): string {
  if (count === 0) return "You can go on: changes are kept in this tab and sent, in order, when it is back.";
  return `${count === 1 ? "1 change is" : `${count} changes are`} kept in this tab and sent, in order, when it is back.`;
}
