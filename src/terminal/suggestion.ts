// Guesses which word was meant when somebody mistypes a command, a flag or a variable.

/**
 * The candidate that was probably meant: it begins with the word, or with the same letter and has almost the same
 * letters. Undefined if there is no such candidate.
 */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const typed = word.toLowerCase();
  if (typed.length < 2) return undefined;
  const [best] = candidates
    .filter((candidate) => candidate.toLowerCase().startsWith(typed.slice(0, 1)))
    .map((candidate) => ({ candidate, mistakes: mistakesIn(typed, candidate.toLowerCase()) }))
    .filter(({ candidate, mistakes }) => mistakes <= Math.max(typed.length, candidate.length) / 3)
    .toSorted((one, other) => one.mistakes - other.mistakes);
  return best?.candidate;
}

/** How many letters are missing, extra or wrong. Their order does not count, because many mistakes swap two letters. */
function mistakesIn(typed: string, meant: string): number {
  if (meant.startsWith(typed)) return 0;
  const missing = [...typed].reduce((rest, letter) => rest.replace(letter, ""), meant);
  return Math.max(missing.length, typed.length - meant.length + missing.length);
}
