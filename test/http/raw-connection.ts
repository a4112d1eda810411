// A TCP connection that sends exactly the given bytes and records the bytes that come back.

import { connect, type Socket } from "node:net";

export class RawConnection {
  readonly #socket: Socket;
  #received = "";
  #closed = false;
  #wake = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("latin1");
    const note = (text: string, closed: boolean) => {
      this.#received += text;
      this.#closed ||= closed;
      this.#wake();
    };
    socket.on("data", (text: string) => note(text, false));
    socket.on("close", () => note("", true));
    // A reset also closes the connection.
    socket.on("error", () => note("", true));
  }

  static async open(port: number, address = "127.0.0.1"): Promise<RawConnection> {
    const socket = connect(port, address);
    const connection = new RawConnection(socket);
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return connection;
  }

  send(text: string): void {
    this.#socket.write(text, "latin1");
  }

  /** Waits until the connection is closed, and returns everything received. */
  async untilClosed(): Promise<string> {
    return this.#until(() => this.#closed);
  }

  /** Waits until the text received so far matches the pattern or the connection is closed. Returns that text. */
  async until(pattern: RegExp): Promise<string> {
    return this.#until(() => pattern.test(this.#received) || this.#closed);
  }

  /** Closes the sending side and keeps receiving. */
  endSending(): void {
    this.#socket.end();
  }

  close(): void {
    this.#socket.destroy();
  }

  async #until(reached: () => boolean): Promise<string> {
    while (!reached()) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#received;
  }
}

/** Sends a request on a new connection. When the connection is closed, returns everything received, head and body. */
export async function exchange(port: number, request: string): Promise<string> {
  const connection = await RawConnection.open(port);
  connection.send(request);
  const answer = await connection.untilClosed();
  connection.close();
  return answer;
}
