// Guesses which word was meant when somebody mistypes a command, a flag or a variable.

/**
 * The candidate that was probably meant: it begins with the word, or with the same letter and differs by one mistake, or
 * by two if both are long. Undefined if there is no such candidate.
 */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const typed = word.toLowerCase();
  if (typed.length < 2) return undefined;
  const alike = candidates.filter((candidate) => candidate.toLowerCase().startsWith(typed.slice(0, 1)));
  const near = (mistakes: number, lettersMin: number) =>
    alike.find(
      (candidate) =>
        Math.min(typed.length, candidate.length) >= lettersMin && isMistyped(typed, candidate.toLowerCase(), mistakes),
    );
  return alike.find((candidate) => candidate.toLowerCase().startsWith(typed)) ?? near(1, 3) ?? near(2, 6);
}

/**
 * True if the typed word differs from the other one by at most this many mistakes. A mistake is an extra letter, a
 * missing letter, a wrong letter, or two swapped letters.
 */
function isMistyped(typed: string, meant: string, mistakes: number): boolean {
  if (typed === meant) return true;
  const [restTyped, restMeant] = [typed.slice(1), meant.slice(1)];
  if (typed[0] === meant[0]) return isMistyped(restTyped, restMeant, mistakes);
  if (mistakes === 0) return false;
  const isSwapped = typed[0] === meant[1] && typed[1] === meant[0];
  return (
    isMistyped(restTyped, meant, mistakes - 1) ||
    isMistyped(typed, restMeant, mistakes - 1) ||
    isMistyped(restTyped, restMeant, mistakes - 1) ||
    (isSwapped && isMistyped(typed.slice(2), meant.slice(2), mistakes - 1))
  );
}
