// Short messages: what was done, with a way to undo it, and what went wrong.

import { useEffect, useState } from "preact/hooks";
import type { Notice, Session } from "../session.ts";
import { CloseIcon } from "./icons.tsx";

const doneMs = 8_000;

export function Notices({ session }: { session: Session }) {
  return (
    <section class="notices" aria-label="Messages" aria-live="polite">
      {session.notices.map((notice) => (
        <Message key={notice.key} notice={notice} onClose={() => session.dismiss(notice.key)} />
      ))}
    </section>
  );
}

function Message({ notice, onClose }: { notice: Notice; onClose: () => void }) {
  const { kind, text, action } = notice;
  const [held, setHeld] = useState(false);
  // A problem stays until it is dismissed. No message disappears while it has the pointer or the focus.
  useEffect(() => {
    if (kind !== "done" || held) return undefined;
    const timer = setTimeout(onClose, doneMs);
    return () => clearTimeout(timer);
  }, [kind, held, notice.key]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the pointer only keeps the message open
    <div
      class="notice"
      data-kind={kind}
      role={kind === "problem" ? "alert" : "status"}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocusIn={() => setHeld(true)}
      onFocusOut={() => setHeld(false)}
    >
      <span>{text}</span>
      {action && (
        <button
          type="button"
          class="link"
          onClick={() => {
            onClose();
            action.run();
          }}
          data-control="notice-action"
        >
          {action.label}
        </button>
      )}
      <button type="button" class="bare" onClick={onClose} aria-label="Dismiss">
        <CloseIcon />
      </button>
    </div>
  );
}
