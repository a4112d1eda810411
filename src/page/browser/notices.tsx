// Short messages for the user: what was done or what went wrong. Some have a button, for example to undo a deletion.

import { useEffect, useState } from "preact/hooks";
import type { Notice, NoticeList } from "../notice-list.ts";
import { CloseIcon } from "./icons.tsx";

const doneMs = 8_000;

export function Notices({ notices }: { notices: NoticeList }) {
  return (
    <section class="notices" aria-label="Messages" aria-live="polite">
      {notices.all.map((notice) => (
        <Message
          key={notice.key}
          notice={notice}
          onClose={() => notices.close(notice.key)}
          onAct={() => notices.act(notice.key)}
        />
      ))}
    </section>
  );
}

function Message({ notice, onClose, onAct }: { notice: Notice; onClose: () => void; onAct: () => void }) {
  const { kind, text, action } = notice;
  const [held, setHeld] = useState(false);
  // Only messages of the kind "done" disappear after a time, and not while they have the pointer or the focus.
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
        <button type="button" class="link" onClick={onAct} data-control="notice-action">
          {action.label}
        </button>
      )}
      <button type="button" class="bare" onClick={onClose} aria-label="Dismiss" data-control="dismiss">
        <CloseIcon />
      </button>
    </div>
  );
}
