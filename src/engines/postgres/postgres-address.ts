// The address of a PostgreSQL store: a URL as PostgreSQL's own tools accept it, with one host or several.

import { readFileSync } from "node:fs";
import { systemReason } from "../../files/system-reason.ts";

export interface PostgresAddress {
  /** The hosts are tried one after the other, until one of them takes writes. */
  readonly hosts: readonly PostgresHost[];
  readonly user: string | undefined;
  /** Never print it. */
  readonly password: string | undefined;
  readonly database: string | undefined;
  /**
   * False for clear text. An object means that the server's certificate is checked, with the root certificate `ca`, as
   * PEM text, or with those of the system.
   */
  readonly tls: false | "prefer" | "require" | { readonly ca?: string };
}

export interface PostgresHost {
  readonly host: string;
  readonly port: number;
}

/** The URL cannot be used. The message says why. */
export class PostgresAddressError extends Error {
  override readonly name = "PostgresAddressError";
}

const urlPattern = /^postgres(?:ql)?:\/\/(?:([^:@/?]*)(?::([^@/?]*))?@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/;
const hostPattern = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::([0-9]{1,5}))?$/i;

export function isPostgresUrl(value: string): boolean {
  return /^postgres(?:ql)?:/.test(value);
}

export function parsePostgresUrl(value: string): PostgresAddress {
  const match = urlPattern.exec(value);
  const [, user, password, hosts = "", database, query = ""] = match ?? [];
  const options = new URLSearchParams(query);
  // A second @ belongs to a password that was not escaped. No message may show what follows the first one, because it
  // is a part of the password.
  if (!match || [hosts, database ?? "", ...options.keys()].some((part) => part.includes("@")))
    throw wrong(
      "expected postgres://USER:PASSWORD@HOST:PORT/DATABASE, with @ : / ? in a password written as %40 %3A %2F %3F",
    );
  return {
    hosts: hosts.split(",").map(parseHost),
    user: decode(user),
    password: decode(password),
    database: decode(database),
    tls: parseQuery(options),
  };
}

/** The address as it is shown to people, without user and password. */
export function describeAddress({ hosts, database }: PostgresAddress): string {
  return [...hosts.map(describeHost), ...(database === undefined ? [] : [`database ${database}`])].join(", ");
}

export function describeHost({ host, port }: PostgresHost): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function parseHost(text: string): PostgresHost {
  const [, address, name, port = "5432"] = hostPattern.exec(text) ?? [];
  const host = address ?? name;
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw wrong("expected HOST or HOST:PORT after postgres://, or several of them with commas between them");
  }
  return { host, port: Number(port) };
}

function parseQuery(query: URLSearchParams): PostgresAddress["tls"] {
  for (const name of query.keys()) {
    if (!["sslmode", "sslrootcert", "target_session_attrs"].includes(name)) {
      throw wrong(
        `${name} is not used; what can follow the question mark is sslmode, sslrootcert and target_session_attrs`,
      );
    }
  }
  // Reads must see the newest state, and a standby may be behind. So only the primary will do.
  if (!["read-write", "primary"].includes(query.get("target_session_attrs") ?? "primary"))
    throw wrong("target_session_attrs can only be read-write");
  return parseTls(query.get("sslmode") ?? "prefer", query.get("sslrootcert"));
}

function parseTls(mode: string, rootCertificate: string | null): PostgresAddress["tls"] {
  if (mode === "verify-full") return rootCertificate === null ? {} : { ca: readCertificate(rootCertificate) };
  if (rootCertificate !== null) throw wrong("sslrootcert needs sslmode=verify-full");
  if (mode === "disable") return false;
  if (mode === "prefer" || mode === "require") return mode;
  throw wrong("sslmode can be disable, prefer, require or verify-full");
}

function readCertificate(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw wrong(`sslrootcert: ${path} cannot be read: ${systemReason(error)}`);
  }
}

function decode(part: string | undefined): string | undefined {
  if (part === undefined || part === "") return undefined;
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) throw wrong("a % in user, password or database is written as %25");
    throw error;
  }
}

function wrong(message: string): PostgresAddressError {
  return new PostgresAddressError(message);
}
