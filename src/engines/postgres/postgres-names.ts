// The user and the database of an address. If the address lacks them, the client library takes them from PGUSER,
// PGDATABASE or the system. So we ask the library, which says so without a connection.

import postgres from "postgres";
import { describeHost, type PostgresAddress } from "./postgres-address.ts";

interface Names {
  readonly user: string;
  readonly database: string;
}

export function namesOf({ user, database }: PostgresAddress): Names {
  const { options } = postgres({
    max: 1,
    ...(user !== undefined && { user }),
    ...(database !== undefined && { database }),
  });
  return { user: options.user, database: options.database };
}

/** The address as it is shown to people, without user and password. */
export function describeAddress(address: PostgresAddress): string {
  return `${address.hosts.map(describeHost).join(", ")}, database ${namesOf(address).database}`;
}

/** The command that makes a database for this store. */
export function createCommand({ user, database }: Names): string {
  return `createdb --owner=${user} --encoding=UTF8 --template=template0 ${database}`;
}
