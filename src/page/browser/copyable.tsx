// A text with a label and a button that copies it.

import { useRef, useState } from "preact/hooks";
import { CopyIcon } from "./icons.tsx";

export function Copyable({ label, text, isLong = false }: { label: string; text: string; isLong?: boolean }) {
  const [copied, setCopied] = useState<"yes" | "no">();
  const code = useRef<HTMLElement>(null);
  const isBlock = text.includes("\n");
  const copy = async () => {
    // Browsers offer the clipboard only to pages that come over HTTPS or from this machine, and the user may have
    // forbidden it. Then the button only selects the text, and the user copies it.
    const isCopied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setCopied(isCopied ? "yes" : "no");
    if (!isCopied && code.current) getSelection()?.selectAllChildren(code.current);
  };
  return (
    <div class="copyable" data-long={isLong} data-block={isBlock}>
      <span class="label">{label}</span>
      {/* A program is scrolled sideways, which must also be possible with the keyboard. */}
      <code ref={code} tabIndex={isBlock ? 0 : undefined}>
        {text}
      </code>
      <button type="button" class="bare" onClick={copy} aria-label={`Copy: ${label}`} title="Copy">
        {copied === "yes" ? "✓" : <CopyIcon />}
      </button>
      {copied === "no" && (
        <span class="hint" role="status">
          Selected, but not copied: the browser does not let this page copy. Press Ctrl+C or ⌘C.
        </span>
      )}
    </div>
  );
}
