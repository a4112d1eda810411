// Environment variables: their type, and the name of the variable for a flag.

export type Environment = Readonly<Record<string, string | undefined>>;

/** For example, `TODOITEMS_READ_ONLY` for `read-only`. */
export function variableOf(flag: string): string {
  return `TODOITEMS_${flag.toUpperCase().replaceAll("-", "_")}`;
}
