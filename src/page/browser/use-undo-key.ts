// Ctrl+Z or Cmd+Z takes back what the user has done last, outside of text fields: there, the browser takes back what was
// typed.

import { useEffect } from "preact/hooks";

export function useUndoKey(isOn: boolean, undo: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isUndo = event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey);
      if (!isOn || !isUndo || event.shiftKey || event.altKey) return;
      if (event.target instanceof Element && event.target.matches("textarea, input:not([type=checkbox])")) return;
      event.preventDefault();
      undo();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [isOn, undo]);
}
