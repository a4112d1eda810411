// Environment variables: the type they travel in, and the name of the variable that belongs to a flag.

export type Environment = Readonly<Record<string, string | undefined>>;

/** `read-only` is set by `TODOITEMS_READ_ONLY`. */
export function variableOf(flag: string): string {
  return `TODOITEMS_${flag.toUpperCase().replaceAll("-", "_")}`;
}
