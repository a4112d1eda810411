// A text with a label and a button that copies it.

import { useRef, useState } from "preact/hooks";
import { Icon } from "./icons.tsx";

export function Copyable({ label, text }: { label: string; text: string }) {
  const [copied, setCopied] = useState<"yes" | "no">();
  const code = useRef<HTMLElement>(null);
  const copy = async () => {
    const select = () => code.current && getSelection()?.selectAllChildren(code.current);
    // Browsers offer the clipboard only to pages that come over HTTPS or from this machine. Other pages can copy what
    // is selected. The user may have forbidden copying. Then the text is only selected, and the user copies it.
    if (!navigator.clipboard) {
      select();
      setCopied(document.execCommand("copy") ? "yes" : "no");
      return;
    }
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    setCopied(isCopied ? "yes" : "no");
    if (!isCopied) select();
  };
  return (
    <div class="copyable">
      <span class="hint spring">{label}</span>
      <button type="button" class="quiet" onClick={copy} aria-label={`Copy: ${label}`} title="Copy">
        {copied === "yes" ? "✓" : <Icon name="copy" />}
      </button>
      <code ref={code}>{text}</code>
      {copied === "no" && (
        <span class="hint" role="status">
          Selected, but not copied: the browser does not let this page copy. Copy the selected text yourself.
        </span>
      )}
    </div>
  );
}
