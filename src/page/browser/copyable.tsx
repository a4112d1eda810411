// A text with a label and a button that copies it.

import { useRef, useState } from "preact/hooks";
import { Icon } from "./icons.tsx";

export function Copyable({ label, text }: { label: string; text: string }) {
  const [isCopied, setIsCopied] = useState<boolean>();
  const code = useRef<HTMLElement>(null);
  // The clipboard API exists only on pages that come over HTTPS or from this machine. What is selected can be copied
  // everywhere. If the browser does not even allow that, the text stays selected, and the user copies it.
  const copy = () => {
    if (code.current) getSelection()?.selectAllChildren(code.current);
    setIsCopied(document.execCommand("copy"));
  };
  return (
    <div class="copyable">
      <span class="hint spring">{label}</span>
      <button type="button" class="quiet" onClick={copy} aria-label={`Copy: ${label}`} title="Copy">
        {isCopied ? "✓" : <Icon name="copy" />}
      </button>
      <code ref={code}>{text}</code>
      {isCopied === false && (
        <span class="hint" role="status">
          Selected, but not copied: the browser does not let this page copy. Copy the selected text yourself.
        </span>
      )}
    </div>
  );
}
