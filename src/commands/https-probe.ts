// Finds out that a server uses HTTPS although its address begins with http. Such a server only closes the connection,
// so the error of `fetch` does not say what is wrong.

import { connect } from "node:tls";

const probeMs = 2_000;

/** The server uses HTTPS, but was asked without it. */
export class HttpsExpected extends Error {
  override readonly name = "HttpsExpected";
  /** The errors of `fetch` have a code, so this error has one too. */
  readonly code = "HTTPS_EXPECTED";
}

type Fetch = (url: string, init: BunFetchRequestInit) => Promise<Response>;

/** Like `fetch`, but rejects with `HttpsExpected` if an http address belongs to a server that uses HTTPS. */
export const fetchOrProbe: Fetch = async (url, init) => {
  try {
    return await fetch(url, init);
  } catch (error) {
    const isReset = error instanceof Error && "code" in error && error.code === "ECONNRESET";
    if (!isReset || !url.startsWith("http:") || !(await usesTls(new URL(url)))) throw error;
    throw new HttpsExpected("the server uses HTTPS", { cause: error });
  }
};

/** True if a TLS handshake succeeds. The certificate does not matter, because nothing is sent. */
function usesTls({ hostname, port }: URL): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const socket = connect({ host, port: Number(port || 80), rejectUnauthorized: false }, () => resolve(true));
  socket.on("error", () => resolve(false));
  socket.on("close", () => resolve(false));
  socket.setTimeout(probeMs, () => resolve(false));
  return promise.finally(() => socket.destroy());
}
