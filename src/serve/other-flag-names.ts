// Names of flags that people know from other programs, and the flags of this program with the same meaning.

/** If several flags have the meaning, a command has usually only one of them. */
const flagsByOtherName: Readonly<Record<string, readonly string[]>> = {
  address: ["host", "server"],
  b: ["host"],
  "base-url": ["server"],
  bind: ["host"],
  c: ["columns"],
  cacert: ["ca"],
  cert: ["tls-cert"],
  complete: ["done"],
  completed: ["done"],
  data: ["store"],
  database: ["store"],
  db: ["store"],
  desc: ["notes"],
  description: ["notes"],
  endpoint: ["server"],
  f: ["format", "force", "users"],
  fields: ["columns"],
  file: ["store", "users"],
  finished: ["done"],
  format: ["json"],
  incomplete: ["open", "undo"],
  insecure: ["ca"],
  j: ["json"],
  k: ["ca"],
  key: ["tls-key"],
  listen: ["host"],
  overwrite: ["force"],
  p: ["port"],
  pending: ["open"],
  reopen: ["undo"],
  t: ["name"],
  title: ["name"],
  todo: ["open"],
  u: ["users"],
  undone: ["open", "undo"],
  url: ["server"],
  v: ["log-requests", "version"],
  verbose: ["log-requests"],
  V: ["version"],
  y: ["force"],
  yes: ["force"],
};

const byName = new Map(Object.entries(flagsByOtherName));

/** The flags among `names` that `typedName` means in other programs. */
export function flagsMeant(typedName: string, names: readonly string[]): string[] {
  return (byName.get(typedName) ?? []).filter((flag) => names.includes(flag));
}
