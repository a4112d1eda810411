// Guesses which word was meant when somebody mistypes a command, a flag or a variable.

/** How many letters a word has for each mistake in it. With more mistakes, it could as well be another word. */
const lettersPerMistake = 3;

/**
 * The candidate that was probably meant: it begins with the word, or with the same letter and differs by few mistakes.
 * Undefined if there is no such candidate.
 */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const typed = word.toLowerCase();
  if (typed.length < 2) return undefined;
  const begun = candidates.find((candidate) => candidate.toLowerCase().startsWith(typed));
  if (begun !== undefined) return begun;
  for (let mistakes = 1; mistakes * lettersPerMistake <= typed.length; mistakes++) {
    const near = candidates.find(
      (candidate) =>
        candidate.length >= mistakes * lettersPerMistake &&
        candidate.toLowerCase().startsWith(typed.slice(0, 1)) &&
        isMistyped(typed, candidate.toLowerCase(), mistakes),
    );
    if (near !== undefined) return near;
  }
  return undefined;
}

/** Whether so many mistakes are enough. A mistake is a letter too many, a missing or a wrong one, or two swapped ones. */
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
