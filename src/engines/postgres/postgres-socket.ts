// Opens the socket of a connection, and encrypts it if the address asks for that. The client library could do both. But
// its errors do not tell a server without TLS from one that is gone, and if a server closes every connection at once,
// the library tries again without a pause.

import { connect, isIP, type Socket } from "node:net";
import { checkServerIdentity, connect as connectTls } from "node:tls";
import type { PostgresAddress, PostgresHost } from "./postgres-address.ts";
import { codeOf, isAboutCertificate } from "./postgres-failures.ts";

type Tls = PostgresAddress["tls"];

type SocketErrorCode = "CLOSED_AT_ONCE" | "CONNECT_TIMEOUT" | "NO_TLS" | "NOT_POSTGRES" | "TLS_FAILED";

/** The connection could not be opened. The table of advice has a text for each code. */
class SocketError extends Error {
  override readonly name = "SocketError";
  readonly code: SocketErrorCode;

  constructor(code: SocketErrorCode, cause?: unknown) {
    super(code, { cause });
    this.code = code;
  }
}

/** The request for TLS, which comes before everything else: its length, and a number that stands for "TLS?". */
const tlsRequest = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47);

/**
 * Returns a function that opens the socket, for the client library. The library calls it again if the server closes
 * the connection before it accepts the user. Then it fails.
 */
export function socketOpener(host: PostgresHost, tls: Tls, timeoutMs: number): () => Promise<Socket> {
  let wasOpened = false;
  return async () => {
    if (wasOpened) throw new SocketError("CLOSED_AT_ONCE");
    wasOpened = true;
    const socket = connect(host.port, host.host);
    const timer = setTimeout(() => socket.destroy(new SocketError("CONNECT_TIMEOUT")), timeoutMs);
    try {
      await once(socket, "connect");
      return tls === false || !(await offersTls(socket, tls)) ? socket : await encrypt(socket, host, tls);
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}

async function offersTls(socket: Socket, tls: Exclude<Tls, false>): Promise<boolean> {
  const answered = once(socket, "data");
  socket.write(tlsRequest);
  const [answer] = await answered;
  const text = answer instanceof Uint8Array ? new TextDecoder("latin1").decode(answer) : "";
  if (text === "S") return true;
  // PostgreSQL sends an error and closes if it cannot even start a process for the connection. The text of that error
  // is not trusted, because it was sent before the server's certificate was checked.
  if (text.startsWith("E")) throw new SocketError("CLOSED_AT_ONCE");
  if (text !== "N") throw new SocketError("NOT_POSTGRES");
  if (tls !== "prefer") throw new SocketError("NO_TLS");
  return false;
}

async function encrypt(socket: Socket, { host }: PostgresHost, tls: Exclude<Tls, false>): Promise<Socket> {
  const isChecked = tls === "verify-full" || typeof tls === "object";
  const encrypted = connectTls({
    socket,
    rejectUnauthorized: isChecked,
    ...(typeof tls === "object" && { ca: tls.ca }),
    // An IP address must not be sent as a name. The certificate is checked against the address all the same.
    ...(isIP(host) === 0 && { servername: host }),
    checkServerIdentity: (_, certificate) => (isChecked ? checkServerIdentity(host, certificate) : undefined),
  });
  try {
    await once(encrypted, "secureConnect");
    return encrypted;
  } catch (error) {
    encrypted.destroy();
    throw error instanceof Error && !isAboutCertificate(error) && !(error instanceof SocketError)
      ? new SocketError("TLS_FAILED", error)
      : error;
  }
}

/** A connection that is lost before it can be used was closed at once: there was nothing to lose yet. */
export function whileConnecting(error: unknown): unknown {
  const isLost = ["ECONNRESET", "EPIPE", "CONNECTION_CLOSED"].includes(codeOf(error));
  return isLost ? new SocketError("CLOSED_AT_ONCE", error) : error;
}

/** Waits for an event. Fails if the socket fails or closes first. */
function once(socket: Socket, event: string): Promise<unknown[]> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown[]>();
  const onEvent = (...values: unknown[]) => resolve(values);
  const onClose = () => reject(new SocketError("CLOSED_AT_ONCE"));
  socket.once(event, onEvent).once("error", reject).once("close", onClose);
  return promise.finally(() => socket.off(event, onEvent).off("error", reject).off("close", onClose));
}
