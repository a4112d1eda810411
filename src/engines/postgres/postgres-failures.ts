// Why a PostgreSQL server could not be used. The messages of the server, the client library and the system say most of
// it; a few codes are explained in our own words.

import postgres from "postgres";
import { StoreError } from "../../collection/engine.ts";
import { describeHost, type PostgresHost } from "./postgres-address.ts";

/** How long it may take to open a connection, and then to sign in. */
export const connectSeconds = 5;

const lost = "the connection was lost";
const unanswered = `no answer within ${connectSeconds} s; is the host right, and does a firewall let this machine through?`;

/** What to say in place of the error's own message, by its code. */
const explanations: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there; is PostgreSQL running, and is this its host and port?",
  ABORT_ERR: unanswered,
  CONNECT_TIMEOUT: unanswered,
  CONNECTION_CLOSED: lost,
  CONNECTION_DESTROYED: lost,
  CONNECTION_ENDED: lost,
  "55P03": "another instance has held the clock for too long; is the server waiting for a standby?",
};

/** Turns an error of the server or the connection into a StoreError that explains it. Other errors are unchanged. */
export function explainPostgresError(error: unknown, host: PostgresHost): unknown {
  if (error instanceof StoreError || !(error instanceof Error)) return error;
  const code = "code" in error ? String(error.code) : "";
  // Errors of sockets, certificates and the library have codes. A defect in our code has none, so it is returned
  // unchanged.
  if (!(error instanceof postgres.PostgresError) && !/^[A-Z][A-Z0-9_]+$/.test(code)) return error;
  return new StoreError(`${describeHost(host)}: ${explanations[code] ?? error.message}`, { cause: error });
}

/**
 * True if the server itself refused the statement, so that nothing was done. Otherwise the outcome is unknown: the
 * connection was lost, or the server said that it is shutting down. It may say so even after it has committed.
 */
export function isServerError(error: StoreError): boolean {
  const { cause } = error;
  return cause instanceof postgres.PostgresError && cause.severity === "ERROR" && cause.code !== "40003";
}

/** True if two transactions were in conflict, so that another attempt may well succeed. */
export function isConflict(error: StoreError): boolean {
  return error.cause instanceof postgres.PostgresError && ["40001", "40P01"].includes(error.cause.code);
}
