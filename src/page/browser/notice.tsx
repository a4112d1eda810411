// A short message at the bottom: what was done or what went wrong, with a button to undo it. It goes by itself, but not
// while it has the pointer or the focus.

import { useEffect, useState } from "preact/hooks";
import type { Notice } from "../item-actions.ts";
import { Icon } from "./icons.tsx";

const shownMs = { done: 10_000, problem: 20_000 };

export function NoticeView({ notice, onClose }: { notice: Notice; onClose: () => void }) {
  const { kind, text, action } = notice;
  const [isHeld, setIsHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return undefined;
    const timer = setTimeout(onClose, shownMs[kind]);
    return () => clearTimeout(timer);
  }, [notice, isHeld]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the pointer only keeps the message open
    <div
      class="notice"
      data-kind={kind}
      onMouseEnter={() => setIsHeld(true)}
      onMouseLeave={() => setIsHeld(false)}
      onFocusIn={() => setIsHeld(true)}
      onFocusOut={() => setIsHeld(false)}
    >
      <span class="spring">{text}</span>
      {action && (
        <button
          type="button"
          onClick={() => {
            onClose();
            action.run();
          }}
          data-control="notice-action"
        >
          {action.label}
        </button>
      )}
      <button type="button" class="quiet" onClick={onClose} aria-label="Dismiss" data-control="dismiss">
        <Icon name="close" />
      </button>
    </div>
  );
}
