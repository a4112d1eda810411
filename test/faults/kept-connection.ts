// An HTTP/1.1 client that keeps one connection and never sends a request twice. Unlike `fetch`, it hides no failure.

import { connect, type Socket } from "node:net";

export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

export class KeptConnection {
  readonly #port: number;
  #socket: Socket | undefined;
  #received = "";
  #wake = () => {};

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends a request and waits for its answer. Throws if the connection closes before the answer is complete. */
  async request(method: string, path: string, json?: string): Promise<KeptAnswer> {
    const socket = this.#socket?.readable ? this.#socket : await this.#connect();
    this.#received = "";
    const body = json === undefined ? "" : json;
    const head = [`${method} ${path} HTTP/1.1`, "Host: localhost", "Content-Type: application/json"];
    socket.write(`${[...head, `Content-Length: ${Buffer.byteLength(body)}`].join("\r\n")}\r\n\r\n${body}`);
    for (;;) {
      const answer = parseAnswer(this.#received);
      if (answer?.closes) this.close();
      if (answer) return answer;
      if (!socket.readable) throw new Error(`${method} ${path}: the connection closed before the answer`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  async #connect(): Promise<Socket> {
    const socket = connect(this.#port, "127.0.0.1");
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => {
      this.#received += text;
      this.#wake();
    });
    socket.on("end", () => this.#wake());
    socket.on("close", () => this.#wake());
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.on("error", reject);
    });
    this.#socket = socket;
    return socket;
  }
}

/** Parses an answer. Returns undefined if the answer is not complete. */
function parseAnswer(text: string): (KeptAnswer & { readonly closes: boolean }) | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = text.slice(0, end);
  const body = text.slice(end + 4);
  const status = Number(/^HTTP\/1\.1 ([0-9]{3})/.exec(head)?.[1]);
  const length = Number(/^content-length: ([0-9]+)$/im.exec(head)?.[1] ?? 0);
  return body.length < length ? undefined : { status, body, closes: /^connection: close$/im.test(head) };
}
