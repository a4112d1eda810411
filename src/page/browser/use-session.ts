// Redraws when the session has changed, at most once per frame, however many changes arrive at once.

import { useEffect, useReducer } from "preact/hooks";
import type { Session } from "../session.ts";

/** The delay before a hidden page is redrawn. Browsers give hidden pages no animation frames. */
const hiddenMs = 200;

export function useSession(session: Session): void {
  const [, draw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    let scheduled = false;
    const drawNow = () => {
      scheduled = false;
      draw(undefined);
    };
    return session.subscribe(() => {
      if (scheduled) return;
      scheduled = true;
      if (document.hidden) setTimeout(drawNow, hiddenMs);
      else requestAnimationFrame(drawNow);
    });
  }, [session]);
}
