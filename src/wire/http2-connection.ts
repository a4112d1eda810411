// HTTP/2 for connections that ask for it: the runtime's sessions over our sockets, with the same limits
// as a connection of HTTP/1.1 has.

import {
  constants,
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { Duplex } from "node:stream";
import { BodyContent } from "./body-content.ts";
import { type Answer, deaf, type HttpRequest, isStream, type StreamBody, type StreamSource } from "./message.ts";
import { bodyTooLarge, headTooLarge, leftEarly, malformed, Refusal, tooSlow } from "./refusal.ts";
import { checkHost, checkMethod, parseLength, parseTarget } from "./request-head.ts";
import type { ConnectionHost, ServedConnection, Wire } from "./served-connection.ts";

const streamsMax = 100;
/** Requests a client may take back before they are answered; one that does so all the time is attacking. */
const takenBackMax = 200;
/** An answer is handed over in pieces of this size, the next when there is room, so that its bytes are not all copied for a slow reader. */
const pieceBytes = 64 * 1024;
/** Frames that are no part of a request may take this much in a row; more are a flood, which costs a core. */
const idleBytesMax = 1024 ** 2;
const lingerMs = 2_000;
const never = Number.POSITIVE_INFINITY;

const sessions = createServer({ settings: { maxConcurrentStreams: streamsMax, enablePush: false } });

export class Http2Connection implements ServedConnection {
  readonly #wire: Wire;
  readonly #host: ConnectionHost;
  readonly #pipe: Pipe;
  readonly #session: ServerHttp2Session;
  readonly #exchanges = new Set<Exchange>();
  readonly #peer: string;
  #idleDeadline: number;
  #idleBytes = 0;
  #takenBack = 0;
  #closing = false;

  constructor(wire: Wire, peer: string, host: ConnectionHost) {
    this.#wire = wire;
    this.#peer = peer;
    this.#host = host;
    this.#idleDeadline = host.clock.now + host.limits.idleTimeoutMs;
    this.#pipe = new Pipe(wire);
    let session: ServerHttp2Session | undefined;
    sessions.once("session", (opened) => {
      session = opened;
    });
    sessions.emit("connection", this.#pipe);
    if (!session) throw new Error("the runtime made no HTTP/2 session of a connection");
    this.#session = session;
    session.on("stream", (stream, headers) => this.#begin(stream, headers));
    // A peer that breaks the protocol is cut off by the session; there is nothing to add.
    session.on("error", () => {});
    session.on("close", () => wire.end());
  }

  get busy(): boolean {
    return this.#exchanges.size > 0;
  }

  get idleSince(): number {
    return this.busy ? never : this.#idleDeadline - this.#host.limits.idleTimeoutMs;
  }

  receive(bytes: Buffer): void {
    this.#idleBytes += bytes.length;
    if (this.#idleBytes > idleBytesMax) this.cut();
    else this.#pipe.receive(bytes);
  }

  drained(): void {
    this.#pipe.drained();
  }

  ended(): void {
    this.#pipe.receive(null);
  }

  closed(): void {
    for (const exchange of this.#exchanges) exchange.lost();
    this.#session.destroy();
    this.#pipe.destroy();
  }

  look(now: number): void {
    for (const exchange of this.#exchanges) exchange.look(now);
    if (this.#exchanges.size > 0 || now < this.#idleDeadline) return;
    if (this.#closing) this.cut();
    else this.finish();
  }

  finish(): void {
    // Asked again, it must not begin its time anew: a peer that does not care would keep its place.
    if (this.#closing) return;
    this.#closing = true;
    this.#idleDeadline = this.#host.clock.now + lingerMs;
    this.#session.close();
  }

  cut(): void {
    this.#wire.terminate();
  }

  #begin(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    this.#idleBytes = 0;
    stream.on("error", () => {});
    if (this.#exchanges.size >= streamsMax) {
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    const exchange = new Exchange(stream, this.#peer, this.#host, () => (this.#idleBytes = 0));
    this.#exchanges.add(exchange);
    stream.on("close", () => {
      this.#exchanges.delete(exchange);
      this.#idleDeadline = this.#host.clock.now + (this.#closing ? lingerMs : this.#host.limits.idleTimeoutMs);
      if (!exchange.answered && ++this.#takenBack > takenBackMax) this.cut();
      if (exchange.closesConnection) this.finish();
      exchange.lost();
    });
    exchange.run(headers);
  }
}

/** One request and its answer. */
class Exchange {
  /** True once the head of the answer was handed over. */
  answered = false;
  /** True if its answer says that there should be no more on this connection. */
  closesConnection = false;
  readonly #stream: ServerHttp2Stream;
  readonly #host: ConnectionHost;
  readonly #peer: string;
  /** To be told of each piece of the request's body, kept or not. */
  readonly #onContent: () => void;
  readonly #bodyDeadline: number;
  /** When to give up on a peer that does not take the answer, or does not end its request behind it. */
  #sendDeadline = never;
  #declaredLength: number | undefined;
  #reader: PromiseWithResolvers<Uint8Array> | undefined;
  #source: StreamSource | undefined;
  #lost = false;

  constructor(stream: ServerHttp2Stream, peer: string, host: ConnectionHost, onContent: () => void) {
    this.#stream = stream;
    this.#onContent = onContent;
    this.#host = host;
    this.#peer = peer;
    this.#bodyDeadline = host.clock.now + host.limits.requestTimeoutMs;
  }

  run(fields: IncomingHttpHeaders): void {
    let answer: Answer | Promise<Answer>;
    try {
      answer = this.#host.handle(this.#requestOf(fields));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      answer = this.#host.refuse(error);
    }
    if (answer instanceof Promise) void answer.then((answer) => this.#answer(answer));
    else this.#answer(answer);
  }

  look(now: number): void {
    if (this.#reader && now >= this.#bodyDeadline) this.#endReading().reject(tooSlow("body", this.#host.limits));
    if (now >= this.#sendDeadline) this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  /** The stream is closed, by whomever. */
  lost(): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#sendDeadline = never;
    if (this.#reader) this.#endReading().reject(leftEarly());
    this.#source?.cancel();
    this.#source = undefined;
  }

  #requestOf(fields: IncomingHttpHeaders): HttpRequest {
    const { headerBytesMax } = this.#host.limits;
    const headers = new Map<string, string>();
    let length = 0;
    for (const [name, value] of Object.entries(fields)) {
      const text = String(value);
      // As long as its line would be.
      length += name.length + text.length + 4;
      if (!name.startsWith(":")) headers.set(name, text);
    }
    if (length > headerBytesMax) throw headTooLarge(headerBytesMax);
    const authority = fields[":authority"];
    if (authority !== undefined) headers.set("host", authority);
    const bodyLength = headers.get("content-length");
    this.#declaredLength = bodyLength === undefined ? undefined : parseLength(bodyLength);
    checkHost(headers.get("host"));
    const method = checkMethod(String(fields[":method"]));
    const { path, query } = parseTarget(method, String(fields[":path"]));
    return {
      method,
      path,
      query,
      headers,
      peer: this.#peer,
      isSecure: true,
      turn: undefined,
      readBody: (bytesMax) => this.#readBody(bytesMax),
    };
  }

  #readBody(bytesMax: number): Promise<Uint8Array> {
    const expected = this.#declaredLength;
    if (expected !== undefined && expected > bytesMax) throw bodyTooLarge(bytesMax, false);
    if (this.#lost) throw leftEarly();
    const reader = Promise.withResolvers<Uint8Array>();
    this.#reader = reader;
    const content = new BodyContent();
    this.#stream.on("data", (piece: Buffer) => {
      this.#onContent();
      if (!this.#reader) return;
      if (content.length + piece.length > bytesMax) this.#endReading().reject(bodyTooLarge(bytesMax, false));
      else content.add(piece);
    });
    this.#stream.on("end", () => {
      if (!this.#reader) return;
      const { resolve, reject } = this.#endReading();
      if (expected === undefined || expected === content.length) resolve(content.take());
      else reject(malformed("The body is not as long as its Content-Length says"));
    });
    return reader.promise;
  }

  #endReading(): PromiseWithResolvers<Uint8Array> {
    const reader = this.#reader;
    if (!reader) throw new Error("nobody reads this body");
    this.#reader = undefined;
    return reader;
  }

  #answer(answer: Answer): void {
    const { body } = answer;
    const stream = isStream(body) ? body : undefined;
    if (this.#lost || this.#stream.destroyed) {
      stream?.open(deaf).cancel();
      return;
    }
    this.answered = true;
    this.closesConnection = answer.closesConnection;
    const bytes = typeof body === "string" ? Buffer.from(body) : body instanceof Uint8Array ? body : undefined;
    this.#stream.respond(headersOf(answer, this.#host.clock.date, bytes?.length), {
      endStream: body === undefined,
    });
    // What is left of the request's body passes by unkept.
    this.#stream.on("data", this.#onContent);
    if (stream) this.#openStream(stream);
    else if (bytes) this.#send(bytes, 0);
    else this.#sendDeadline = this.#giveUpAt();
  }

  #send(bytes: Uint8Array, from: number): void {
    if (this.#lost) return;
    const to = from + pieceBytes;
    if (to >= bytes.length) this.#end(bytes.subarray(from));
    else this.#write(bytes.subarray(from, to), () => this.#send(bytes, to));
  }

  #openStream(body: StreamBody): void {
    const source = body.open({
      write: (bytes) => this.#write(bytes, () => this.#source?.pull()),
      end: () => {
        this.#source = undefined;
        this.#end();
      },
    });
    this.#source = this.#stream.writableEnded ? undefined : source;
  }

  #write(bytes: Uint8Array, onTaken: () => void): void {
    if (this.#lost) return;
    this.#sendDeadline = this.#giveUpAt();
    this.#stream.write(bytes, () => {
      if (!this.#stream.writableEnded) this.#sendDeadline = never;
      onTaken();
    });
  }

  #end(bytes?: Uint8Array): void {
    this.#stream.end(bytes);
    this.#sendDeadline = this.#giveUpAt();
  }

  #giveUpAt(): number {
    return this.#host.clock.now + this.#host.limits.idleTimeoutMs;
  }
}

function headersOf({ status, headers }: Answer, date: string, length: number | undefined): OutgoingHttpHeaders {
  const fields: OutgoingHttpHeaders = { ":status": status, date };
  for (const name in headers) fields[name.toLowerCase()] = headers[name];
  if (length !== undefined) fields["content-length"] = length;
  return fields;
}

/** The socket as a session wants it. */
class Pipe extends Duplex {
  readonly #wire: Wire;
  #waiting: { bytes: Buffer; offset: number; done: () => void } | undefined;

  constructor(wire: Wire) {
    super();
    this.#wire = wire;
  }

  receive(bytes: Buffer | null): void {
    if (!this.push(bytes)) this.#wire.pause();
  }

  drained(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    const missing = waiting.bytes.length - waiting.offset;
    const written = this.#wire.write(waiting.bytes, waiting.offset, missing);
    waiting.offset += Math.max(0, written);
    if (written < missing) return;
    this.#waiting = undefined;
    waiting.done();
  }

  override _read(): void {
    this.#wire.resume();
  }

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.#waiting = { bytes, offset: 0, done };
    this.drained();
  }

  override _final(done: () => void): void {
    this.#wire.end();
    done();
  }
}
