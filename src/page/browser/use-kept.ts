// A choice of the user that the browser remembers: in `localStorage` for the next visit, or in `sessionStorage` until
// the tab is closed.

import { useState } from "preact/hooks";

/** The first of the values is the default. */
export function useKept<Value extends string>(
  storage: Storage,
  key: string,
  values: readonly [Value, ...Value[]],
): [Value, (value: Value) => void] {
  const [value, setValue] = useState(() => {
    const kept = storage.getItem(key);
    return values.find((one) => one === kept) ?? values[0];
  });
  return [
    value,
    (next) => {
      storage.setItem(key, next);
      setValue(next);
    },
  ];
}
