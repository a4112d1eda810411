// A modal dialog. The browser's `dialog` element traps the focus, handles Escape and makes the background inert.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

interface DialogProps {
  readonly title: string;
  readonly kind: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, kind, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // A layout effect runs before the browser paints, so the next key that the user presses already goes to the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    // The button that gets the focus may be below a long text. Show the beginning of the text first. The buttons are in
    // sight anyway.
    dialog.current?.scrollTo(0, 0);
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={kind}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}
