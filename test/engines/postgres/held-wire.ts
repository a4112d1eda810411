// A proxy between an engine and its server. A test can count round trips, hold data back and cut connections.

import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** Passes on the chunk that `onceSent` has held back. Resolves once the server has answered it. */
export type Pass = () => Promise<unknown>;

export class Wire {
  readonly port: number;
  readonly #server: Server;
  readonly #pairs = new Set<{ readonly client: Socket; readonly server: Socket }>();
  /** How often the client has begun to send, either on a new connection or after the server has sent something. */
  roundTrips = 0;
  /** How many connections the client has tried to open. */
  connections = 0;
  /** While true, everything that the server sends is held back. */
  held = false;
  /** While true, no connection is accepted. */
  refusing = false;
  #heldBack: (() => void)[] = [];
  #onHeldBack: (() => void) | undefined;
  #onChunk: (() => void) | undefined;
  #marker: { readonly text: string; readonly onSeen: (pass: Pass) => void } | undefined;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async to(targetPort: number): Promise<Wire> {
    const listener = createServer();
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const address = listener.address();
    const wire = new Wire(listener, typeof address === "object" && address ? address.port : 0);
    listener.on("connection", (client) => wire.#accept(client, targetPort));
    return wire;
  }

  /** The URL of the same database, through this wire. */
  through(url: string): string {
    return url.replace(/127\.0\.0\.1:[0-9]+/, `127.0.0.1:${this.port}`);
  }

  /**
   * Calls `onSeen` when the client next sends a chunk that contains this text. The chunk is held back until `pass`, the
   * argument of `onSeen`, is called.
   */
  onceSent(text: string, onSeen: (pass: Pass) => void): void {
    this.#marker = { text, onSeen };
  }

  /** Resolves once something that the server has sent is held back. */
  async heldSomething(): Promise<void> {
    if (this.#heldBack.length === 0) await new Promise<void>((resolve) => (this.#onHeldBack = resolve));
  }

  /** Resolves once the server has sent this many more chunks. */
  async chunks(count: number): Promise<void> {
    for (let left = count; left > 0; left--) await new Promise<void>((resolve) => (this.#onChunk = resolve));
  }

  /** Delivers what was held back. */
  release(): void {
    this.held = false;
    for (const send of this.#heldBack.splice(0)) send();
  }

  /** Cuts every connection. What was held back is lost. */
  cut(): void {
    this.#heldBack = [];
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /**
   * Cuts every connection with a TCP reset, as a server does after a restart, when it no longer knows its connections.
   */
  reset(): void {
    for (const { client } of this.#pairs) client.resetAndDestroy();
  }

  /** Cuts every connection on the client's side only: the server still receives what is passed on to it. */
  abandon(): void {
    for (const pair of this.#pairs) {
      this.#pairs.delete(pair);
      pair.client.removeAllListeners("close").destroy();
    }
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #accept(client: Socket, targetPort: number): void {
    this.connections++;
    if (this.refusing) {
      client.destroy();
      return;
    }
    const server = connect(targetPort, "127.0.0.1");
    const pair = { client, server };
    this.#pairs.add(pair);
    let hasReceived = true;
    client.on("data", (chunk: Buffer) => {
      if (hasReceived) this.roundTrips++;
      hasReceived = false;
      const marker = this.#marker;
      if (marker && chunk.includes(marker.text)) {
        this.#marker = undefined;
        marker.onSeen(() => {
          server.write(chunk);
          return once(server, "data");
        });
      } else server.write(chunk);
    });
    server.on("data", (chunk: Buffer) => {
      this.#onChunk?.();
      const pass = () => {
        hasReceived = true;
        client.write(chunk);
      };
      if (this.held) {
        this.#heldBack.push(pass);
        this.#onHeldBack?.();
      } else pass();
    });
    const end = () => {
      this.#pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on("error", end).on("close", end);
  }
}
