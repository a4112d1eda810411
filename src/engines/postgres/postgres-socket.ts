// Opens the socket of a connection. The client library could do that too, but if a server closes every connection at
// once, as a load balancer without a server does, the library would try again and again without a pause.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { StoreError } from "../../collection/engine.ts";
import { describeHost, type PostgresHost } from "./postgres-address.ts";

/**
 * Returns a function that opens the socket, for the client library. The library calls it again if the server closes
 * the connection before it accepts the user. Then it fails.
 */
export function socketOpener(host: PostgresHost, timeoutMs: number): () => Promise<Socket> {
  let wasOpened = false;
  return async () => {
    if (wasOpened) throw new StoreError(`${describeHost(host)}: the server closed the connection before it answered`);
    wasOpened = true;
    const socket = connect(host.port, host.host);
    try {
      await once(socket, "connect", { signal: AbortSignal.timeout(timeoutMs) });
      // The library encrypts the socket, if the address asks for that, and expects a certificate for this name.
      return Object.assign(socket, { host: host.host });
    } catch (error) {
      socket.destroy();
      throw error;
    }
  };
}
