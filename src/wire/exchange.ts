// One request and its answer: everything that a connection must know about them until the next request. The handler
// sees it as the request.

import { chunkBytes, lastChunkBytes } from "./answer-pieces.ts";
import type { HttpRequest, StreamBody, StreamSource } from "./message.ts";
import { leftEarly } from "./refusal.ts";
import { RequestBody, skippedBytesMax } from "./request-body.ts";
import type { RequestHead } from "./request-head.ts";

const noContent = new Uint8Array();

/** Stands for the head of a request that was refused before it could be read. */
const unreadHead: RequestHead = {
  method: "",
  path: "",
  query: "",
  headers: new Map(),
  keepsConnection: false,
  takesChunks: false,
  bodyLength: 0,
  expectsContinue: false,
};

/** What an exchange needs from its connection. */
interface Receiver extends Pick<HttpRequest, "peer" | "isSecure"> {
  readBody(exchange: Exchange, bytesMax: number): ReturnType<HttpRequest["readBody"]>;
}

export class Exchange implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly head: RequestHead;
  readonly body: RequestBody;
  remembered: object | undefined;
  /** When the request began to arrive, by the server's clock. */
  readonly startedAt: number;
  /** True once the client got the `100 Continue` that it asked for. */
  saidContinue = false;
  /** True if the connection closes after the answer. */
  closes = false;
  /** True once all of the answer is in the send queue, or if the client has left. */
  isAnswered = false;
  readonly #connection: Receiver;
  /** The source of a streamed answer until the stream ends. Undefined for an answer that is not streamed. */
  #source: StreamSource | undefined;

  constructor(
    connection: Receiver,
    startedAt: number,
    head = unreadHead,
    body = RequestBody.none,
    remembered?: object,
  ) {
    this.method = head.method;
    this.path = head.path;
    this.query = head.query;
    this.headers = head.headers;
    this.head = head;
    this.body = body;
    this.remembered = remembered;
    this.startedAt = startedAt;
    this.#connection = connection;
  }

  get peer(): string {
    return this.#connection.peer;
  }

  get isSecure(): boolean {
    return this.#connection.isSecure;
  }

  /** True while the answer is a stream that has not ended. */
  get isStreamed(): boolean {
    return this.#source !== undefined;
  }

  readBody(bytesMax: number): Uint8Array | Promise<Uint8Array> {
    return this.head.bodyLength === 0 ? noContent : this.#connection.readBody(this, bytesMax);
  }

  /** Whether another request can follow this one. `waitsForContinue` is true if the client may not send its body. */
  canGoOn(waitsForContinue: boolean): boolean {
    const { keepsConnection, bodyLength } = this.head;
    if (!keepsConnection) return false;
    if (this.body.isComplete) return true;
    // A client that got no `100 Continue` may send either its body or its next request. We cannot tell which it is, so
    // the connection must close.
    return !waitsForContinue && (bodyLength === "chunked" || bodyLength <= skippedBytesMax);
  }

  /** Opens a streamed answer, whose bytes go to `write`. */
  stream(body: StreamBody, write: (bytes: Uint8Array) => void): void {
    const encode = (bytes: Uint8Array) => (this.head.takesChunks ? chunkBytes(bytes) : bytes);
    const source = body.open({
      write: (bytes) => {
        if (!this.isAnswered) write(encode(bytes));
      },
      end: (last) => {
        if (this.isAnswered) return;
        if (last) write(encode(last));
        this.isAnswered = true;
        this.#source = undefined;
        write(this.head.takesChunks ? lastChunkBytes : noContent);
      },
    });
    if (!this.isAnswered) this.#source = source;
  }

  /** Lets the source of a streamed answer write more. */
  pull(): void {
    this.#source?.pull();
  }

  /** The client has left: nobody will send the rest of the body, and nobody will read the answer. */
  abandon(): void {
    this.isAnswered = true;
    this.body.fail(leftEarly());
    this.#source?.cancel();
    this.#source = undefined;
  }
}
