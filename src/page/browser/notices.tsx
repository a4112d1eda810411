// Short messages for the user: what was done or what went wrong. Some have a button, for example to undo a deletion.

import { useEffect, useState } from "preact/hooks";
import { type Notice, type NoticeList, stays } from "../notice-list.ts";
import { CloseIcon } from "./icons.tsx";

/** How long a message is shown if it closes by itself. Problems are shown longer, because they take longer to read. */
const shownMs = { done: 8_000, problem: 20_000 };

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
  // A message does not disappear while it has the pointer or the focus.
  useEffect(() => {
    if (held || stays(notice)) return undefined;
    const timer = setTimeout(onClose, shownMs[kind]);
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
