// Runs code without the rights of root.

/** Runs the action as an ordinary user. If the tests run as root, that is the user "nobody". */
export function asOrdinaryUser<Result>(action: () => Result): Result {
  if (process.geteuid?.() !== 0) return action();
  process.seteuid?.(65_534);
  try {
    return action();
  } finally {
    process.seteuid?.(0);
  }
}
