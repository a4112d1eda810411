// The SQL with which an administrator lets a user use a store. Each statement is on one line, because log lines contain
// these statements too.

/** The statements that let this user read and write the tables of a store. */
export function tableGrants(user: string): string[] {
  const role = quoted(user);
  return [
    `GRANT USAGE ON SCHEMA todoitems TO ${role};`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA todoitems TO ${role};`,
    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA todoitems TO ${role};`,
  ];
}

/** The statement that lets this user connect to a database. */
export function connectGrant({ user, database }: { readonly user: string; readonly database: string }): string {
  return `GRANT CONNECT ON DATABASE ${quoted(database)} TO ${quoted(user)};`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
