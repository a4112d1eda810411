// Changes several items, one after the other. If one change fails, the error says what was changed and what was not.

import type { Stored } from "../client/client-options.ts";
import { hasStatus, isTodoError } from "../client/errors.ts";
import { CommandError, describeFailure } from "./failure.ts";
import { titleOf } from "./fields.ts";

/** Yields each item with the result of `change`. `changed` is the word for what happens to the items, as in "removed". */
export async function* eachInTurn<Result>(
  items: readonly Stored<string>[],
  changed: string,
  change: (item: Stored<string>) => Promise<Result>,
): AsyncGenerator<readonly [Stored<string>, Result]> {
  for (const [index, item] of items.entries()) {
    let result: Result;
    try {
      result = await change(item);
    } catch (error) {
      throw explained(error, items, index, changed);
    }
    yield [item, result];
  }
}

function explained(error: unknown, items: readonly Stored<string>[], index: number, changed: string): unknown {
  const titles = items.map(({ id, item }) => titleOf(id, item));
  const isGone = hasStatus(error, 404);
  if (items.length === 1 && !isGone) return error;
  const reason = isGone
    ? `${titles[index]}: somebody deleted this item in the meantime.`
    : describeFailure(error).message;
  if (items.length === 1) return new CommandError(reason, { cause: error });
  // If no answer arrived, the change may have been made nevertheless.
  const isUnclear = isTodoError(error, "NetworkError") || isTodoError(error, "TimeoutError");
  const parts = [
    [capitalised(changed), titles.slice(0, index)],
    [`Perhaps ${changed}`, isUnclear ? titles.slice(index, index + 1) : []],
    [`Not ${changed}`, titles.slice(isUnclear ? index + 1 : index)],
  ] as const;
  const report = parts.filter(([, some]) => some.length > 0).map(([label, some]) => `${label}: ${some.join(", ")}.`);
  return new CommandError([reason, ...report].join(" "), { cause: error });
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
