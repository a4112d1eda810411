// A wire between an engine and its server that a test can watch, hold and cut.

import { connect, createServer, type Server, type Socket } from "node:net";

export class Wire {
  readonly port: number;
  readonly #server: Server;
  readonly #pairs = new Set<{ readonly client: Socket; readonly server: Socket }>();
  /** How often the client has sent something after it had heard from the server. */
  roundTrips = 0;
  /** How often a connection was asked for. */
  connections = 0;
  /** While true, what the server says does not arrive. */
  held = false;
  /** While true, nobody gets a connection. */
  refusing = false;
  #heldBack: (() => void)[] = [];
  #marker: { readonly text: string; readonly onSeen: (pass: () => void) => void } | undefined;

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

  /** The same database, through this wire. */
  through(url: string): string {
    return url.replace(/127\.0\.0\.1:[0-9]+/, `127.0.0.1:${this.port}`);
  }

  /** Calls back when the client sends this text, once; what was sent arrives only when `pass` is called. */
  onceSent(text: string, onSeen: (pass: () => void) => void): void {
    this.#marker = { text, onSeen };
  }

  /** Resolves once the server has said something that was held. */
  async heldSomething(): Promise<void> {
    while (this.#heldBack.length === 0) await Bun.sleep(1);
  }

  /** Lets through what was held. */
  release(): void {
    this.held = false;
    for (const send of this.#heldBack.splice(0)) send();
  }

  /** Cuts every connection; what was held is lost. */
  cut(): void {
    this.#heldBack = [];
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /** Cuts every connection on the client's side only: the server still hears what is passed on to it. */
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
    let heard = true;
    client.on("data", (chunk: Buffer) => {
      if (heard) this.roundTrips++;
      heard = false;
      const pass = () => server.write(chunk);
      const marker = this.#marker;
      if (marker && chunk.includes(marker.text)) {
        this.#marker = undefined;
        marker.onSeen(pass);
      } else pass();
    });
    server.on("data", (chunk: Buffer) => {
      const pass = () => {
        heard = true;
        client.write(chunk);
      };
      if (this.held) this.#heldBack.push(pass);
      else pass();
    });
    const end = () => {
      this.#pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on("error", end).on("close", end);
  }
}
