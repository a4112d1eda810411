// A choice of the user that the browser remembers for the next visit.

import { useState } from "preact/hooks";

export function useKept(key: string): [boolean, (value: boolean) => void] {
  const [value, setValue] = useState(() => localStorage.getItem(key) === "true");
  return [
    value,
    (next) => {
      localStorage.setItem(key, String(next));
      setValue(next);
    },
  ];
}
