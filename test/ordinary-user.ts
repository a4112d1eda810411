// Runs code without the rights of root.

/**
 * Runs the action as an ordinary user. If the tests run as root, that is the user "nobody". If the action returns a
 * promise, the rights come back when it is settled, so run nothing else meanwhile.
 */
export function asOrdinaryUser<Result>(action: () => Result): Result;
export function asOrdinaryUser(action: () => unknown): unknown {
  if (process.geteuid?.() !== 0) return action();
  process.seteuid?.(65_534);
  let result: unknown;
  try {
    result = action();
    return result instanceof Promise ? result.finally(() => process.seteuid?.(0)) : result;
  } finally {
    if (!(result instanceof Promise)) process.seteuid?.(0);
  }
}
