// A short message at the bottom: what was done or what went wrong, with a button to undo it. It goes by itself, but not
// while it has the pointer or the focus.

import { useEffect, useRef } from "preact/hooks";
import type { Notice } from "../item-actions.ts";
import { Icon } from "./icons.tsx";

const shownMs = { done: 10_000, problem: 20_000 };

export function NoticeView({ notice, onClose }: { notice: Notice; onClose: () => void }) {
  const { kind, text, action, isUnfinished = false } = notice;
  const message = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!isUnfinished && !message.current?.matches(":hover, :focus-within")) onClose();
    }, shownMs[kind]);
    return () => clearInterval(timer);
  }, [notice]);
  return (
    <div class="notice" data-kind={kind} data-draft={isUnfinished} ref={message}>
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
