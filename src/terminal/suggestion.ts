// Guesses which word was meant when somebody mistypes a command, a flag or a variable.

/**
 * The candidate that was probably meant: it begins with the word, or differs from the word only by a few typing
 * mistakes. Undefined if there is no such candidate.
 */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const typed = word.toLowerCase();
  if (typed.length < 2) return undefined;
  const [best] = candidates
    .map((candidate) => ({ candidate, mistakes: mistakesIn(typed, candidate.toLowerCase()) }))
    .filter(({ candidate, mistakes }) => mistakes <= Math.max(typed.length, candidate.length) / 3)
    .toSorted((one, other) => one.mistakes - other.mistakes);
  return best?.candidate;
}

/**
 * How many typing mistakes lie between two words. A mistake is a missing, extra or wrong letter, or two letters that
 * changed places. There is no mistake if `meant` begins with `typed`.
 */
function mistakesIn(typed: string, meant: string): number {
  if (meant.startsWith(typed)) return 0;
  let beforeLast: number[] = [];
  let last = Array.from({ length: meant.length + 1 }, (_, index) => index);
  for (let row = 1; row <= typed.length; row++) {
    const current = [row];
    for (let column = 1; column <= meant.length; column++) {
      const isSame = typed[row - 1] === meant[column - 1];
      const isSwapped = typed[row - 1] === meant[column - 2] && typed[row - 2] === meant[column - 1];
      current.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (last[column - 1] ?? 0) + (isSame ? 0 : 1),
          isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[meant.length] ?? 0;
}
