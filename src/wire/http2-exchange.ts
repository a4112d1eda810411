// One request over HTTP/2 and its answer.

import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { BodyContent } from "./body-content.ts";
import { type ConnectionHost, noDeadline } from "./connection.ts";
import {
  type Answer,
  cancelStream,
  type HttpRequest,
  isStream,
  type PieceBody,
  type StreamBody,
  type StreamSource,
} from "./message.ts";
import { bodyTooLarge, closingRefusal, headTooLarge, leftEarly, Refusal, tooManyBodies, tooSlow } from "./refusal.ts";
import { checkHost, checkMethod, parseLength, parseTarget } from "./request-head.ts";
import { SendQueue } from "./send-queue.ts";
import type { Turn } from "./turn.ts";
import type { SlowReader } from "./unsent-bytes.ts";

/**
 * Answers that are not streamed are written in pieces of at most this size. Each piece waits until the previous one is
 * sent. So the HTTP/2 stream never buffers more than one piece for a slow client.
 */
const pieceBytes = 64 * 1024;

const noContent = new Uint8Array();

export class Http2Exchange implements SlowReader {
  /** True once the answer has begun. */
  answered = false;
  /** True if the answer asks for the connection to be closed. */
  closesConnection = false;
  readonly #stream: ServerHttp2Stream;
  readonly #host: ConnectionHost;
  readonly #peer: string;
  /** Called for each piece of the request's body, even if the piece is thrown away. */
  readonly #onContent: () => void;
  readonly #bodyDeadline: number;
  /** When to give up on a client that does not read its answer, or does not end its request after the answer. */
  #sendDeadline = noDeadline;
  #declaredLength: number | undefined;
  #content: BodyContent | undefined;
  #reader: PromiseWithResolvers<Uint8Array> | undefined;
  readonly #unsent: SendQueue;
  #source: StreamSource | undefined;
  #inputEnded = false;
  #isClosed = false;

  constructor(stream: ServerHttp2Stream, peer: string, host: ConnectionHost, onContent: () => void) {
    this.#stream = stream;
    this.#onContent = onContent;
    this.#host = host;
    this.#unsent = new SendQueue(host.unsentBytes, this);
    this.#peer = peer;
    this.#bodyDeadline = host.clock.now + host.limits.requestTimeoutMs;
  }

  run(fields: IncomingHttpHeaders, turn: Turn | undefined): void {
    let answer: Answer | Promise<Answer>;
    try {
      answer = this.#host.handler.handle(this.#requestOf(fields, turn));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      answer = this.#host.handler.refuse(error);
    }
    if (answer instanceof Promise) void answer.then((answer) => this.#answer(answer));
    else this.#answer(answer);
  }

  look(now: number): void {
    this.#unsent.look();
    if (this.#reader && now >= this.#bodyDeadline)
      this.#failReading(tooSlow("body", this.#host.limits.requestTimeoutMs));
    if (now >= this.#sendDeadline) this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  /**
   * Called when the client will send no more. A complete request still gets its answer, unless the answer is a stream.
   */
  inputEnded(): void {
    this.#inputEnded = true;
    this.#stream.once("finish", () => this.#closeIfUnfinished());
    if (this.#source) this.#leave();
    else if (this.#reader || this.#stream.writableFinished) this.#closeIfUnfinished();
  }

  giveUp(): void {
    this.#unsent.clear();
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  /** Called when either side has closed the HTTP/2 stream or the connection. */
  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#sendDeadline = noDeadline;
    this.#unsent.clear();
    if (this.#reader) this.#failReading(leftEarly());
    this.#source?.cancel();
    this.#source = undefined;
  }

  #requestOf(fields: IncomingHttpHeaders, turn: Turn | undefined): HttpRequest {
    const { headerBytesMax } = this.#host.limits;
    const headers = new Map<string, string>();
    let byteCount = 0;
    for (const [name, value] of Object.entries(fields)) {
      const text = String(value);
      // Counts the field as it would be written in HTTP/1.1: with a colon, a blank and CR LF.
      byteCount += name.length + text.length + 4;
      if (!name.startsWith(":")) headers.set(name, text);
    }
    if (byteCount > headerBytesMax) throw headTooLarge(headerBytesMax);
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
      turn,
      readBody: (bytesMax) => this.#readBody(bytesMax),
    };
  }

  #readBody(bytesMax: number): Uint8Array | Promise<Uint8Array> {
    const expected = this.#declaredLength;
    if (expected !== undefined && expected > bytesMax) throw bodyTooLarge(bytesMax, false);
    if (this.#isClosed) throw leftEarly();
    if (this.#stream.endAfterHeaders && expected === undefined) return noContent;
    const reader = Promise.withResolvers<Uint8Array>();
    this.#reader = reader;
    const content = new BodyContent(this.#host.unfinishedBodies);
    this.#content = content;
    this.#stream.on("data", (piece: Buffer) => {
      this.#onContent();
      if (!this.#reader) return;
      if (content.length + piece.length > bytesMax) return this.#failReading(bodyTooLarge(bytesMax, false));
      content.add(piece);
      if (content.length !== expected && !content.hold()) this.#failReading(tooManyBodies());
    });
    this.#stream.on("end", () => {
      if (!this.#reader) return;
      if (expected === undefined || expected === content.length) this.#endReading().resolve(content.take());
      else this.#failReading(closingRefusal("The body's length differs from its Content-Length"));
    });
    if (this.#inputEnded) this.#closeIfUnfinished();
    return reader.promise;
  }

  /**
   * Call this if the client will send no more. If the handler waits for the rest of the body, its read fails.
   * Otherwise, if the answer is already sent, the HTTP/2 stream is closed.
   */
  #closeIfUnfinished(): void {
    // The stream may still hold bytes that have arrived. They are read by the end of this turn of the event loop, so
    // wait until then.
    setImmediate(() => {
      if (this.#reader) this.#failReading(leftEarly());
      else if (!this.#isClosed && this.#stream.writableFinished) this.#stream.close(constants.NGHTTP2_NO_ERROR);
    });
  }

  /** Cancels a streamed answer whose client has left. */
  #leave(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  #failReading(refusal: Refusal): void {
    this.#content?.drop();
    this.#endReading().reject(refusal);
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
    if (this.#isClosed || this.#stream.destroyed) {
      if (stream) cancelStream(stream);
      return;
    }
    this.answered = true;
    this.closesConnection = answer.closesConnection;
    const content = typeof body === "string" ? Buffer.from(body) : isStream(body) ? undefined : body;
    this.#stream.respond(fieldsOf(answer, this.#host.clock.date, content?.byteLength), {
      endStream: body === undefined,
    });
    // From here on, the rest of the request's body is read and thrown away.
    if (!this.#stream.endAfterHeaders) this.#stream.on("data", this.#onContent);
    if (stream) this.#openStream(stream);
    else if (content) this.#send(content);
    else this.#sendDeadline = this.#giveUpAt();
  }

  #send(content: Uint8Array | PieceBody): void {
    // The runtime makes a frame of each write, so a short body is sent with one write.
    if (content instanceof Uint8Array) this.#unsent.add(content);
    else if (content.byteLength <= pieceBytes) this.#unsent.add(content.joined());
    else for (const piece of content.pieces) this.#unsent.add(piece);
    this.#sendRest(content.byteLength);
  }

  #sendRest(byteCount: number): void {
    if (this.#isClosed) return;
    const bytes = this.#unsent.front(pieceBytes);
    if (bytes.length === byteCount) this.#end(bytes);
    else
      this.#write(bytes, () => {
        this.#unsent.drop(bytes.length);
        this.#sendRest(byteCount - bytes.length);
      });
  }

  #openStream(body: StreamBody): void {
    const source = body.open({
      write: (bytes) => this.#write(bytes, () => this.#source?.pull()),
      end: (last) => {
        this.#source = undefined;
        this.#end(last);
      },
    });
    this.#source = this.#stream.writableEnded ? undefined : source;
    if (this.#inputEnded && this.#source) this.#leave();
  }

  #write(bytes: Uint8Array, onTaken: () => void): void {
    if (this.#isClosed) return;
    this.#sendDeadline = this.#giveUpAt();
    this.#stream.write(bytes, () => {
      if (!this.#stream.writableEnded) this.#sendDeadline = noDeadline;
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

/**
 * The header fields of answers that are sent many times, and the date that these fields contain. The fields are used
 * again until the date changes. That is safe, because the runtime copies them before it changes them.
 */
const standingFields = new WeakMap<Answer, { readonly date: string; readonly fields: OutgoingHttpHeaders }>();

function fieldsOf(answer: Answer, date: string, length: number | undefined): OutgoingHttpHeaders {
  const known = standingFields.get(answer);
  if (known?.date === date) return known.fields;
  const fields: OutgoingHttpHeaders = { ":status": answer.status, date };
  for (const name in answer.headers) fields[name.toLowerCase()] = answer.headers[name];
  if (length !== undefined) fields["content-length"] = length;
  if (answer.isStanding) standingFields.set(answer, { date, fields });
  return fields;
}
