// Redraws the component that calls `useSession` when the session has changed. An edit of the user is drawn at once, so
// that the user's next click or key acts on its result. Everything else is drawn at most once per frame.

import { useEffect, useReducer } from "preact/hooks";
import type { Session } from "../session.ts";

/**
 * The delay before a hidden page is redrawn. A hidden page needs a timer, because browsers give it no animation frames.
 */
const hiddenMs = 200;

export function useSession(session: Session): void {
  const [, draw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    let scheduled = false;
    const drawNow = () => {
      scheduled = false;
      draw(undefined);
    };
    // The session may have changed after the component was first drawn and before this effect ran.
    drawNow();
    return session.subscribe((isEdit) => {
      if (isEdit) draw(undefined);
      if (isEdit || scheduled) return;
      scheduled = true;
      if (document.hidden) setTimeout(drawNow, hiddenMs);
      else requestAnimationFrame(drawNow);
    });
  }, [session]);
}
