// A modal dialog. The browser's `dialog` element traps the focus, reports Escape and makes the background inert.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "./icons.tsx";
import { usePage } from "./page-context.ts";
import { hasKeyboard } from "./use-focus-place.ts";

interface DialogProps {
  readonly title: string;
  readonly kind: string;
  /** What else happens when the user closes the dialog. */
  readonly onClose?: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, kind, onClose, children }: DialogProps) {
  const { open } = usePage();
  const close = () => {
    open();
    onClose?.();
  };
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // A layout effect runs before the browser paints, so the next key that the user presses already goes to the dialog.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // `showModal` gives the focus to the first control, the Close button. A field is better, but not on a phone.
    if (hasKeyboard())
      element?.querySelector<HTMLElement>("form input:read-write, form textarea")?.focus({ preventScroll: true });
    // Close the dialog before it is removed: then the browser gives the focus back to the element that had it before.
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={kind}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <div class="title">
        <h2 id={titleId}>{title}</h2>
        <button type="button" class="quiet" onClick={close} aria-label="Close">
          <Icon name="close" />
        </button>
      </div>
      {children}
    </dialog>
  );
}
