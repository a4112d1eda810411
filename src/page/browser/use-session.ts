// Draws again when the session has changed, at most once for each frame, however many changes come at once.

import { useEffect, useReducer } from "preact/hooks";
import type { Session } from "../session.ts";

/** How soon a page that nobody sees is drawn, since browsers give it no frames. */
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
