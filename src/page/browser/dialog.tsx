// A modal dialog. The browser's `dialog` element traps the focus, reports Escape and makes the background inert.

import type { ComponentChildren, RefObject } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { CloseIcon } from "./icons.tsx";

interface DialogProps {
  readonly title: string;
  readonly kind: string;
  readonly onClose: () => void;
  /** True if the dialog has a Close button beside its title. */
  readonly hasCloseButton?: boolean;
  /** Gets the focus when the dialog closes, if the element that had it before is gone. */
  readonly nextFocus?: RefObject<HTMLElement | null>;
  readonly children: ComponentChildren;
}

export function Dialog({ title, kind, onClose, hasCloseButton = false, nextFocus, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // A layout effect runs before the browser paints, so the next key that the user presses already goes to the dialog.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // `showModal` gives the focus to a control and scrolls to it. Scroll back to the top. If the control is a button,
    // it is still in sight, because a dialog keeps its buttons in sight (`position: sticky`). If it is a field, scroll
    // to it again.
    element?.scrollTo(0, 0);
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.scrollIntoView({ block: "nearest" });
    return () => {
      // Close the dialog before it is removed: then the browser gives the focus back to the element that had it before.
      element?.close();
      // If the element that had the focus before is gone, the focus is still in the closed dialog or on no element.
      // Then give it to `nextFocus`.
      const focused = document.activeElement;
      if (focused === document.body || element?.contains(focused)) nextFocus?.current?.focus({ preventScroll: true });
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
      <div class="title">
        <h2 id={titleId}>{title}</h2>
        {hasCloseButton && (
          <button type="button" class="bare" onClick={onClose} aria-label="Close">
            <CloseIcon />
          </button>
        )}
      </div>
      {children}
    </dialog>
  );
}
