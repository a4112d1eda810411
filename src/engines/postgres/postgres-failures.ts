// Why a PostgreSQL server could not be used, in words for the operator, with what to do next.

import postgres from "postgres";
import { StoreError } from "../../collection/engine.ts";
import { describeHost, type PostgresAddress, type PostgresHost } from "./postgres-address.ts";
import { createCommand, namesOf } from "./postgres-names.ts";

/** How long it may take to open a connection, and then to sign in. */
export const connectSeconds = 5;

/**
 * Advice for the operator by error code, which comes from the server (SQLSTATE), the client library or the system.
 * `NAME` stands for the name of the database, `USER` for the user, `COMMAND` for the command that makes the database, and
 * `MESSAGE` for the server's own message.
 */
const advice: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there; is PostgreSQL running, and is this its host and port?",
  ENOTFOUND: "the host's name is not known; check it",
  EAI_AGAIN: "the host's name could not be looked up; does this machine reach its name server?",
  EHOSTUNREACH: "the host cannot be reached over the network",
  ENETUNREACH: "the host cannot be reached over the network",
  ETIMEDOUT: "the host no longer answers",
  ECONNRESET: "the connection was lost",
  EPIPE: "the connection was lost",
  CONNECT_TIMEOUT: `no answer within ${connectSeconds} s; is the host right, and does a firewall let this machine through?`,
  CONNECTION_CLOSED: "the connection was lost",
  CONNECTION_DESTROYED: "the connection was given up",
  CONNECTION_ENDED: "the connection was given up",
  CLOSED_AT_ONCE: "the server closed the connection before it answered; is this the port of PostgreSQL?",
  NOT_POSTGRES: "what answers there is not PostgreSQL; check the host and the port",
  NO_TLS:
    "the server offers no TLS; switch on ssl in its postgresql.conf, or use sslmode=prefer or sslmode=disable in the address",
  TLS_FAILED: "the server offers TLS, but the TLS handshake failed; its log may say why",
  CERT_HAS_EXPIRED: "the server's certificate has expired; renew it there",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet; are the clocks of both machines right?",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "the server's certificate is for another host name; use a name that the certificate contains",
  // PostgreSQL does not say which of the two it is.
  "28P01": "the password is wrong, or there is no such user",
  // This code has several reasons: the role does not exist or may not log in, or pg_hba.conf does not let it in from
  // here. Only the server's own message tells them apart.
  "28000": "the server does not let this user in (MESSAGE)",
  "3D000": "there is no database NAME; make it with: COMMAND",
  "42501":
    "the user USER lacks a right (MESSAGE). It needs CONNECT on the database NAME, USAGE on the schema todoitems, SELECT, INSERT, UPDATE and DELETE on its tables, and EXECUTE on its function",
  "42P01": "a table of the schema todoitems is gone; restart the service to make it",
  "42883": "a function of the schema todoitems is gone; restore the database from a backup",
  "3F000": "the schema todoitems is gone; restart the service to make it",
  "25006": "the server is read-only at present",
  "53100": "the server's disk is full; free some space there",
  "53300": "the server has no connection left; raise its max_connections",
  "55P03": "another instance has held the clock for too long; is the server waiting for a standby?",
  "57014": "the server cancelled the statement: its statement_timeout is too short, or somebody asked it to",
  "57P01": "the server is being shut down",
  "57P03": "the server is starting up",
};

/** For the other errors of a certificate. They have many codes. */
const distrust =
  "the server's certificate is not trusted; name the file of its authority with sslrootcert, or use sslmode=require, which does not check it";

/** Turns an error of the server or the connection into a StoreError that explains it. Other errors are unchanged. */
export function explainPostgresError(error: unknown, host: PostgresHost, address: PostgresAddress): unknown {
  if (error instanceof StoreError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  // Errors of sockets, certificates and the library have codes. A defect in our code has none, so it is returned
  // unchanged.
  if (!(error instanceof postgres.PostgresError) && !/^[A-Z][A-Z0-9_]+$/.test(code)) return error;
  const isPasswordMissing = code === "28P01" && !address.password && !process.env["PGPASSWORD"];
  const known = isPasswordMissing
    ? "the server asks for a password, and none was given; put it into the address, or into the variable PGPASSWORD"
    : (advice[code] ?? (isAboutCertificate(error) ? distrust : "MESSAGE"));
  const text = known
    .replace("NAME", () => namesOf(address).database)
    .replace("USER", () => namesOf(address).user)
    .replace("COMMAND", () => createCommand(namesOf(address)))
    .replace("MESSAGE", () => error.message);
  return new StoreError(`${describeHost(host)}: ${text}`, { cause: error });
}

/** The code of an error. Empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** True if the server's certificate was not accepted. */
export function isAboutCertificate(error: unknown): boolean {
  const code = codeOf(error);
  // An ERR_SSL code is about the handshake, and may be what the server says about us.
  return /CERT|VERIFY/.test(code) && !code.startsWith("ERR_SSL");
}

/**
 * True if the server itself refused the statement, so that nothing was done. Otherwise the outcome is unknown: the
 * connection was lost, or the server said that it is shutting down. It may say so even after it has committed.
 */
export function isServerError(error: StoreError): boolean {
  const { cause } = error;
  return cause instanceof postgres.PostgresError && cause.severity === "ERROR" && cause.code !== "40003";
}

/**
 * What keeps a server from being used:
 *
 * - `standby`: it takes no writes.
 * - `refused`: it does not accept the user, the password or the database of the address.
 * - `rights`: the user may not use the database, or the store in it.
 * - `tls`: it runs, but TLS could not be used as the address demands.
 * - `not-postgres`: something listens there that did not answer as PostgreSQL does.
 * - `answered`: it answered with another error. So it runs, and can be reached.
 * - `away`: anything else.
 */
export type Obstacle = "standby" | "refused" | "rights" | "tls" | "not-postgres" | "answered" | "away";

export function obstacleOf({ cause }: StoreError): Obstacle {
  const code = codeOf(cause);
  if (cause === standbyCause) return "standby";
  if (code === "42501") return "rights";
  if (isAboutCertificate(cause) || ["NO_TLS", "TLS_FAILED"].includes(code)) return "tls";
  if (["CLOSED_AT_ONCE", "NOT_POSTGRES"].includes(code)) return "not-postgres";
  if (!(cause instanceof postgres.PostgresError)) return "away";
  return /^(?:28|3D)/.test(code) ? "refused" : "answered";
}

const standbyCause = "standby";

export function standbyError(host?: PostgresHost): StoreError {
  const message = `${host ? `${describeHost(host)}: ` : ""}the server is a standby, which takes no writes`;
  return new StoreError(message, { cause: standbyCause });
}

/** True if two transactions were in conflict, so that another attempt may well succeed. */
export function isConflict(error: StoreError): boolean {
  return error.cause instanceof postgres.PostgresError && ["40001", "40P01"].includes(error.cause.code);
}
