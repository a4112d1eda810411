// One connection, in clear text or over TLS. It reads requests, passes them to the handler one after the other, and sends the answers.
// It limits what one client can cost: how long each step may take, and how many bytes wait in either direction.
// Why: docs/decisions/0002-connections-of-our-own.md

import { answerPieces, chunkBytes, lastChunkBytes, streamHead } from "./answer-pieces.ts";
import type { ConnectionHost, Sender, Transport } from "./connection-host.ts";
import { findHead, refusalOfPart } from "./head-search.ts";
import { InputBuffer } from "./input-buffer.ts";
import {
  type Answer,
  cancelStream,
  type Handler,
  type HttpRequest,
  isStream,
  type StreamBody,
  type StreamSource,
} from "./message.ts";
import { bodyTooLarge, leftEarly, Refusal, tooSlow } from "./refusal.ts";
import { RememberedHead } from "./remembered-head.ts";
import { RequestBody, skippedBytesMax } from "./request-body.ts";
import type { RequestHead } from "./request-head.ts";
import { type Piece, SendQueue } from "./send-queue.ts";
import type { SlowReader } from "./unsent-bytes.ts";

type Phase =
  /** The TLS handshake is not complete. */
  | "handshake"
  /** Between requests. */
  | "idle"
  /** A head has begun to arrive. */
  | "head"
  /** The handler is waiting for the rest of the body. */
  | "body"
  /** The handler is working on its answer. */
  | "answering"
  /** Bytes of the answer are waiting for the client to read them. */
  | "sending"
  /** The handler is streaming an answer, and everything it has written so far is sent. */
  | "streaming"
  /** The answer is sent; the rest of the request's body is thrown away. */
  | "skipping"
  /** We have closed our side. Whatever still arrives is thrown away until the client closes its side too. */
  | "lingering"
  | "closed";

/**
 * How long the client may take to read its last answer and close. If we closed the socket at once, the system might
 * send a reset, which could destroy that answer on its way.
 */
const lingerMs = 2_000;

/** When the server stops, a connection that is younger than this stays open for its first request. */
const firstRequestMs = 1_000;

const noDeadline = Number.POSITIVE_INFINITY;
const continueBytes = Buffer.from("HTTP/1.1 100 Continue\r\n\r\n");
const noContent = new Uint8Array();

export class Connection implements Sender, SlowReader {
  readonly peer: string;
  readonly isSecure: boolean;
  readonly #transport: Transport;
  readonly #handler: Handler;
  readonly #host: ConnectionHost;
  readonly #input: InputBuffer;
  readonly #unsent: SendQueue;
  readonly #lastHead = new RememberedHead();
  #phase: Phase;
  #deadline: number;
  #inputEnded = false;
  #proceeding = false;
  /** True if the connection closes after the current request or, if the connection is new, after its first request. */
  #finishing = false;
  /** True until the first bytes arrive. */
  #isNew = true;

  // The following fields describe the request in progress.
  #head: RequestHead | undefined;
  #body = RequestBody.none;
  #requestDeadline = noDeadline;
  #saidContinue = false;

  // The following fields describe the answer in progress.
  #closes = false;
  /** True once all of the answer is in the send queue. */
  #answered = false;
  /** The source of a streamed answer until the stream ends. Undefined for an answer that is not streamed. */
  #source: StreamSource | undefined;

  constructor(transport: Transport, peer: string, isSecure: boolean, handler: Handler, host: ConnectionHost) {
    this.#transport = transport;
    this.peer = peer;
    this.isSecure = isSecure;
    this.#handler = handler;
    this.#host = host;
    this.#input = new InputBuffer(transport);
    this.#unsent = new SendQueue(host.limits.unsentBytes, this);
    this.#startRequestTime();
    this.#phase = isSecure ? "handshake" : "idle";
    this.#deadline = this.#deadlineOf(this.#phase);
  }

  /** True while a request is in progress. */
  get busy(): boolean {
    return ["body", "answering", "sending", "streaming"].includes(this.#phase);
  }

  /** When the connection became idle, by the server's clock. Infinity while it is not idle. */
  get idleSince(): number {
    return this.#phase === "idle" ? this.#deadline - this.#host.limits.idleTimeoutMs : noDeadline;
  }

  /** True until the TLS handshake is complete, or until the server itself breaks it off. */
  get isInHandshake(): boolean {
    return this.#phase === "handshake";
  }

  /** Called when the TLS handshake is complete. */
  secured(): void {
    if (this.isInHandshake) this.#enter("idle");
  }

  receive(bytes: Buffer): void {
    const phase = this.#phase;
    if (phase === "lingering" || phase === "closed") return;
    this.#isNew = false;
    const known = phase === "idle" && this.#input.bytes === undefined ? this.#lastHead.recall(bytes) : undefined;
    if (known) {
      this.#startRequestTime();
      this.#begin(known);
    } else {
      this.#input.add(bytes);
      this.#proceed();
    }
  }

  /**
   * Called when the socket accepts bytes again, and at the end of each turn of the event loop in which `sendSoon` was
   * called.
   */
  drained(): void {
    // The time limit starts again whenever the client has read something.
    if (this.#unsent.flush(this.#transport) && this.#phase === "sending") this.#enter("sending");
    if (!this.#unsent.isEmpty) return;
    if (this.#phase === "sending") this.#sent();
    this.#proceed();
  }

  /** Called when the client will send no more. */
  ended(): void {
    this.#inputEnded = true;
    // A client that closes its side during the handshake or a streamed answer has left, so the connection is dropped.
    // Between requests, no further request can arrive, so the connection closes. A body that is incomplete will stay so,
    // and reading it fails. In all other cases the client may still wait for its answer, so do nothing.
    if (this.#source || this.isInHandshake) this.cut();
    else if (this.#isBetweenRequests) this.#end();
    else if (this.#phase === "body") this.#failBody(leftEarly());
  }

  /** Called when the socket is closed. */
  closed(): void {
    if (this.#phase === "body") this.#body.fail(leftEarly());
    this.#body.skip();
    this.#enter("closed");
    this.#unsent.clear();
    this.#input.clear();
    this.#source?.cancel();
    this.#source = undefined;
  }

  /** Called ten times a second. Enforces the time limits, and reports the unsent bytes to `unsentBytes`. */
  look(now: number): void {
    this.#unsent.look();
    if (now < this.#deadline) return;
    if (this.#phase === "idle") this.#end();
    else if (this.#phase === "head") this.#refuse(tooSlow("request", this.#host.limits.requestTimeoutMs));
    else if (this.#phase === "body") this.#failBody(tooSlow("body", this.#host.limits.requestTimeoutMs));
    else this.cut();
  }

  /**
   * Makes the connection close after the request in progress is answered. It still takes a request that has begun to
   * arrive, and a connection that has just opened still takes its first request.
   */
  finish(): void {
    this.#finishing = true;
    // A client that has just connected has probably sent its request already. If we closed now, the client might never
    // send it again, so wait for it.
    const isExpected = this.#isNew && this.#host.clock.now - this.idleSince < firstRequestMs;
    if (this.isInHandshake) this.cut();
    else if (this.#phase === "skipping" || (this.#phase === "idle" && !isExpected)) this.#end();
  }

  /** Drops the connection at once, whatever is in progress. */
  cut(): void {
    // The socket may stay open for a while. Clean up now, so that no other answer is sent.
    this.closed();
    this.#transport.terminate();
  }

  /** See `HttpRequest`. */
  readBody(bytesMax: number): Uint8Array | Promise<Uint8Array> {
    const length = this.#head?.bodyLength ?? 0;
    if (length === 0) return noContent;
    if (this.#phase === "closed") throw leftEarly();
    if (length !== "chunked" && length > bytesMax) throw bodyTooLarge(bytesMax, length > skippedBytesMax);
    if (this.#waitsForContinue) {
      this.#saidContinue = true;
      this.#write(continueBytes);
    }
    this.#body.keep(bytesMax);
    this.#takeBody();
    if (this.#body.isComplete) return this.#body.content();
    if (this.#inputEnded) throw leftEarly();
    this.#enter("body");
    this.#input.resume();
    return this.#body.wait();
  }

  /** Every change of phase goes through here, because each phase has its own time limit. */
  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#deadline = this.#deadlineOf(phase);
  }

  #deadlineOf(phase: Phase): number {
    const { clock, limits } = this.#host;
    switch (phase) {
      case "idle":
      case "sending":
        return clock.now + limits.idleTimeoutMs;
      case "handshake":
      case "head":
      case "body":
        return this.#requestDeadline;
      case "skipping":
        return clock.now + limits.requestTimeoutMs;
      case "lingering":
        return clock.now + lingerMs;
      case "answering":
      case "streaming":
      case "closed":
        return noDeadline;
    }
  }

  get #isBetweenRequests(): boolean {
    return this.#phase === "idle" || this.#phase === "head" || this.#phase === "skipping";
  }

  /** True if the client is waiting for `100 Continue` before it sends its body. */
  get #waitsForContinue(): boolean {
    return (this.#head?.expectsContinue ?? false) && !this.#saidContinue && this.#input.bytes === undefined;
  }

  #startRequestTime(): void {
    this.#requestDeadline = this.#host.clock.now + this.#host.limits.requestTimeoutMs;
  }

  /** Processes as many as possible of the bytes that have arrived. */
  #proceed(): void {
    // If a step leads to another call of this method, the loop that is already running does the work.
    if (this.#proceeding) return;
    this.#proceeding = true;
    while (this.#step());
    this.#proceeding = false;
    this.#input.pauseIfFull();
  }

  /** Processes one part of the input, such as a head. Returns whether another part may be ready. */
  #step(): boolean {
    const { bytes } = this.#input;
    if (bytes === undefined) return false;
    if (this.#phase === "idle" || this.#phase === "head") return this.#takeHead(bytes);
    if (this.#phase === "body") return this.#takeAwaitedBody();
    if (this.#phase === "skipping") return this.#takeSkippedBody();
    return false;
  }

  #takeHead(bytes: Buffer): boolean {
    const { start, text, end } = findHead(bytes, this.#host.limits.headerBytesMax);
    if (end === undefined) {
      this.#input.drop(start);
      this.#awaitHead(text);
      return false;
    }
    this.#input.drop(end);
    if (this.#phase === "idle") this.#startRequestTime();
    let head: RequestHead;
    try {
      head = this.#lastHead.parse(text);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#refuse(error);
      return false;
    }
    const cameAlone = start === 0 && end === bytes.length && head.bodyLength === 0;
    this.#lastHead.remember(cameAlone ? bytes : undefined);
    this.#begin(head);
    return true;
  }

  /** Waits for the rest of an incomplete head. If `refusalOfPart` finds a mistake already, refuses the head. */
  #awaitHead(text: string): void {
    const refusal = refusalOfPart(text, this.#host.limits.headerBytesMax);
    if (refusal) this.#refuse(refusal);
    else if (this.#inputEnded) this.#end();
    else if (this.#phase === "idle" && text !== "") {
      this.#startRequestTime();
      this.#enter("head");
    }
  }

  #begin(head: RequestHead): void {
    this.#head = head;
    const { unfinishedBodies } = this.#host.limits;
    this.#body =
      head.bodyLength === 0 ? RequestBody.none : new RequestBody(head.bodyLength, unfinishedBodies, this.peer);
    this.#saidContinue = false;
    this.#answered = false;
    this.#enter("answering");
    const answer = this.#handler.handle(new ReceivedRequest(head, this));
    if (answer instanceof Promise)
      void answer.then((answer) => {
        this.#answer(answer);
        this.#proceed();
      });
    else this.#answer(answer);
  }

  /** Answers a head that is malformed, too large or too slow, and closes the connection. */
  #refuse(refusal: Refusal): void {
    this.#head = undefined;
    this.#body = RequestBody.none;
    this.#input.clear();
    this.#answer(this.#handler.refuse(refusal));
  }

  #answer(answer: Answer): void {
    const { body } = answer;
    const stream = isStream(body) ? body : undefined;
    if (this.#phase === "closed") {
      if (stream) cancelStream(stream);
      return;
    }
    this.#closes = answer.closesConnection || this.#finishing || this.#host.isDraining || !this.#canGoOn();
    this.#enter("sending");
    if (stream) {
      this.#sendStream(answer, stream, this.#head?.takesChunks ?? false);
      return;
    }
    this.#answered = true;
    const withBody = this.#head?.method !== "HEAD";
    for (const piece of answerPieces(answer, this.#host.clock.date, this.#closes, withBody)) this.#write(piece);
  }

  /** Whether another request can follow the one in progress. */
  #canGoOn(): boolean {
    const head = this.#head;
    if (!head?.keepsConnection) return false;
    if (this.#body.isComplete) return true;
    // A client that got no `100 Continue` may send either its body or its next request. We cannot tell which it is, so
    // the connection must close.
    return !this.#waitsForContinue && (head.bodyLength === "chunked" || head.bodyLength <= skippedBytesMax);
  }

  #sendStream(answer: Answer, stream: StreamBody, inChunks: boolean): void {
    // Without chunks, only the end of the connection tells the client where the body ends. So the connection closes.
    this.#closes ||= !inChunks;
    this.#write(streamHead(answer, this.#host.clock.date, this.#closes, inChunks));
    const source = stream.open({
      write: (bytes) => {
        if (this.#answered || this.#phase === "closed") return;
        this.#write(inChunks ? chunkBytes(bytes) : bytes);
      },
      end: (last) => {
        if (this.#answered || this.#phase === "closed") return;
        if (last) this.#write(inChunks ? chunkBytes(last) : last);
        this.#answered = true;
        this.#source = undefined;
        this.#write(inChunks ? lastChunkBytes : noContent);
      },
    });
    if (this.#answered) return;
    this.#source = source;
    if (this.#inputEnded) this.cut();
  }

  #write(piece: Piece): void {
    const wasEmpty = this.#unsent.isEmpty;
    this.#unsent.add(piece);
    if (!wasEmpty) return;
    if (this.#phase === "streaming") this.#enter("sending");
    this.#host.sendSoon(this);
  }

  /** Called when all bytes in the send queue have been sent. */
  #sent(): void {
    if (!this.#answered) {
      this.#enter("streaming");
      this.#source?.pull();
    } else if (this.#closes) this.#end();
    else if (this.#body.isComplete) this.#next();
    else {
      this.#body.skip();
      this.#enter("skipping");
      this.#input.resume();
      if (this.#inputEnded && this.#input.bytes === undefined) this.#end();
    }
  }

  #next(): void {
    this.#head = undefined;
    this.#enter("idle");
    this.#input.resume();
    if (this.#finishing || (this.#inputEnded && this.#input.bytes === undefined)) this.#end();
  }

  /**
   * Moves bytes from the input to the body. Throws a `Refusal` if the body is malformed or too large, or if
   * the unfinished bodies of all connections exceed their limit.
   */
  #takeBody(): void {
    const { bytes } = this.#input;
    if (bytes !== undefined) this.#input.drop(this.#body.take(bytes));
  }

  #takeAwaitedBody(): boolean {
    try {
      this.#takeBody();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#failBody(error);
    }
    if (this.#phase === "body" && this.#body.isComplete) {
      this.#enter("answering");
      this.#body.deliver();
    }
    return false;
  }

  #failBody(refusal: Refusal): void {
    this.#enter("answering");
    this.#body.fail(refusal);
  }

  #takeSkippedBody(): boolean {
    try {
      this.#takeBody();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#end();
      return false;
    }
    if (this.#body.isComplete) this.#next();
    else if (this.#inputEnded) this.#end();
    return this.#body.isComplete;
  }

  /**
   * Closes our side after the last answer. Then waits for the client to close its side, unless the client already has.
   */
  #end(): void {
    this.#enter("lingering");
    this.#body.skip();
    this.#input.clear();
    this.#input.resume();
    if (this.#inputEnded) this.#transport.end();
    else this.#transport.shutdown();
  }
}

class ReceivedRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly #connection: Connection;

  constructor({ method, path, query, headers }: RequestHead, connection: Connection) {
    this.method = method;
    this.path = path;
    this.query = query;
    this.headers = headers;
    this.#connection = connection;
  }

  get peer(): string {
    return this.#connection.peer;
  }

  get isSecure(): boolean {
    return this.#connection.isSecure;
  }

  readBody(bytesMax: number): Uint8Array | Promise<Uint8Array> {
    return this.#connection.readBody(bytesMax);
  }
}
