// One connection, in clear text or over TLS. It reads requests, passes them to the handler one after the other, and
// sends the answers. It limits what one client can cost: how long each step may take, and how many bytes wait in either
// direction.
// Why: docs/decisions/0002-connections-of-our-own.md

import { answerPieces, streamHead } from "./answer-pieces.ts";
import type { ConnectionHost, Sender, Transport } from "./connection-host.ts";
import { Exchange } from "./exchange.ts";
import { findHead, refusalOfPart } from "./head-search.ts";
import { InputBuffer } from "./input-buffer.ts";
import { type Answer, cancelStream, type Handler, isStream } from "./message.ts";
import { type Phase, phasesOfInput, timeLimitMs } from "./phase.ts";
import { bodyTooLarge, leftEarly, Refusal, tooSlow } from "./refusal.ts";
import { RequestBody, skippedBytesMax } from "./request-body.ts";
import type { RequestHead } from "./request-head.ts";
import { type Piece, SendQueue } from "./send-queue.ts";
import type { SlowReader } from "./unsent-bytes.ts";

/** When the server stops, a connection that is younger than this stays open for its first request. */
const firstRequestMs = 1_000;

const continueBytes = Buffer.from("HTTP/1.1 100 Continue\r\n\r\n");

export class Connection implements Sender, SlowReader {
  readonly peer: string;
  readonly isSecure: boolean;
  readonly #transport: Transport;
  readonly #handler: Handler;
  readonly #host: ConnectionHost;
  readonly #input: InputBuffer;
  readonly #unsent: SendQueue;
  #phase: Phase;
  /** When the time limit of the phase began, by the server's clock. */
  #since: number;
  #inputEnded = false;
  #proceeding = false;
  /** True if the connection closes after the current request or, if the connection is new, after its first request. */
  #finishing = false;
  /** True until the first bytes arrive. */
  #isNew = true;
  /** The request in progress and its answer. Undefined between requests. */
  #exchange: Exchange | undefined;

  constructor(transport: Transport, peer: string, isSecure: boolean, handler: Handler, host: ConnectionHost) {
    this.#transport = transport;
    this.peer = peer;
    this.isSecure = isSecure;
    this.#handler = handler;
    this.#host = host;
    this.#input = new InputBuffer(transport);
    this.#unsent = new SendQueue(host.limits.unsentBytes, this);
    this.#phase = isSecure ? "handshake" : "idle";
    this.#since = host.clock.now;
  }

  /** True while a request is in progress. */
  get busy(): boolean {
    return ["body", "answering", "sending", "streaming"].includes(this.#phase);
  }

  /** Since when the client has had to send something, by the server's clock. Infinity while it need not send anything. */
  get waitingSince(): number {
    return phasesOfInput.has(this.#phase) ? this.#since : Number.POSITIVE_INFINITY;
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
    const known = phase === "idle" && this.#input.bytes === undefined ? this.#host.knownHeads.find(bytes) : undefined;
    if (known) this.#begin(known.head, known.remembered);
    else {
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
    if (this.#phase === "sending" && this.#exchange) this.#sent(this.#exchange);
    this.#proceed();
  }

  /** Called when the client will send no more. */
  ended(): void {
    this.#inputEnded = true;
    // A client that closes its side during the handshake or a streamed answer has left, so the connection is dropped.
    // Between requests, no further request can arrive, so the connection closes. A body that is incomplete will stay so,
    // and reading it fails. In all other cases the client may still wait for its answer, so do nothing.
    if (this.#exchange?.isStreamed || this.isInHandshake) this.cut();
    else if (this.#isBetweenRequests) this.#end();
    else if (this.#phase === "body") this.#failBody(leftEarly());
  }

  /** Called when the socket is closed. */
  closed(): void {
    this.#enter("closed");
    this.#unsent.clear();
    this.#input.clear();
    this.#exchange?.abandon();
    this.#exchange = undefined;
  }

  /** Called ten times a second. Enforces the time limits, and reports the unsent bytes to `unsentBytes`. */
  look(now: number): void {
    this.#unsent.look();
    const limitMs = timeLimitMs(this.#phase, this.#host.limits);
    if (now < this.#since + limitMs) return;
    this.stopWaiting(tooSlow(this.#phase === "body" ? "body" : "request", limitMs));
  }

  /** Closes the connection because of its client. If a part of a request has arrived, the refusal answers it. */
  stopWaiting(refusal: Refusal): void {
    if (this.#phase === "idle") this.#end();
    else if (this.#phase === "head") this.#refuse(refusal);
    else if (this.#phase === "body") this.#failBody(refusal);
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
    const isExpected = this.#isNew && this.#host.clock.now - this.#since < firstRequestMs;
    if (this.isInHandshake) this.cut();
    else if (this.#phase === "skipping" || (this.#phase === "idle" && !isExpected)) this.#end();
  }

  /** Drops the connection at once, whatever is in progress. */
  cut(): void {
    const isAnswered = this.#phase === "lingering";
    // The socket may stay open for a while. Clean up now, so that no other answer is sent.
    this.closed();
    // A reset would discard what the system is still sending to a slow client.
    if (isAnswered) this.#transport.end();
    else this.#transport.terminate();
  }

  /** Reads the body of a request that has one. See `HttpRequest`. */
  readBody(exchange: Exchange, bytesMax: number): Uint8Array | Promise<Uint8Array> {
    if (exchange !== this.#exchange) throw leftEarly();
    const { body } = exchange;
    const { bodyLength } = exchange.head;
    if (bodyLength !== "chunked" && bodyLength > bytesMax) throw bodyTooLarge(bytesMax, bodyLength > skippedBytesMax);
    if (this.#waitsForContinue(exchange)) {
      exchange.saidContinue = true;
      this.#write(continueBytes);
    }
    body.keep(bytesMax);
    this.#takeBody(body);
    if (body.isComplete) return body.content();
    if (this.#inputEnded) throw leftEarly();
    this.#enter("body", exchange.startedAt);
    this.#input.resume();
    return body.wait();
  }

  /** Every change of phase goes through here, because each phase has its own time limit. */
  #enter(phase: Phase, since = this.#host.clock.now): void {
    this.#phase = phase;
    this.#since = since;
  }

  get #isBetweenRequests(): boolean {
    return this.#phase === "idle" || this.#phase === "head" || this.#phase === "skipping";
  }

  /** True if the client is waiting for `100 Continue` before it sends its body. */
  #waitsForContinue({ head, saidContinue }: Exchange): boolean {
    return head.expectsContinue && !saidContinue && this.#input.bytes === undefined;
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
    if (this.#phase === "body" && this.#exchange) this.#takeAwaitedBody(this.#exchange);
    if (this.#phase === "skipping" && this.#exchange) return this.#takeSkippedBody(this.#exchange);
    return false;
  }

  #takeHead(bytes: Buffer): boolean {
    const { start, text, end } = findHead(bytes);
    if (end === undefined) {
      this.#input.drop(start);
      this.#awaitHead(text);
      return false;
    }
    this.#input.drop(end);
    const { knownHeads } = this.#host;
    const headBytes = bytes.subarray(start, end);
    const known = knownHeads.find(headBytes);
    if (known) {
      this.#begin(known.head, known.remembered);
      return true;
    }
    let head: RequestHead;
    try {
      head = knownHeads.parse(text);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#refuse(error);
      return false;
    }
    const { remembered } = this.#begin(head);
    if (remembered) knownHeads.add({ bytes: headBytes, head, remembered });
    return true;
  }

  /** Waits for the rest of an incomplete head. If `refusalOfPart` finds a mistake already, refuses the head. */
  #awaitHead(text: string): void {
    const refusal = refusalOfPart(text);
    if (refusal) this.#refuse(refusal);
    else if (this.#inputEnded) this.#end();
    else if (this.#phase === "idle" && text !== "") this.#enter("head");
  }

  #begin(head: RequestHead, remembered?: object): Exchange {
    const { clock, limits } = this.#host;
    const startedAt = this.#phase === "head" ? this.#since : clock.now;
    const body =
      head.bodyLength === 0 ? RequestBody.none : new RequestBody(head.bodyLength, limits.unfinishedBodies, this.peer);
    const exchange = new Exchange(this, startedAt, head, body, remembered);
    this.#exchange = exchange;
    this.#enter("answering");
    const answer = this.#handler.handle(exchange);
    if (answer instanceof Promise)
      void answer.then((answer) => {
        this.#answer(exchange, answer);
        this.#proceed();
      });
    else this.#answer(exchange, answer);
    return exchange;
  }

  /** Answers a head that is malformed, too large or too slow, and closes the connection. */
  #refuse(refusal: Refusal): void {
    this.#input.clear();
    this.#exchange = new Exchange(this, this.#since);
    this.#answer(this.#exchange, this.#handler.refuse(refusal));
  }

  #answer(exchange: Exchange, answer: Answer): void {
    const { body } = answer;
    const stream = isStream(body) ? body : undefined;
    if (this.#phase === "closed") {
      if (stream) cancelStream(stream);
      return;
    }
    const { clock, isDraining } = this.#host;
    const { method, takesChunks } = exchange.head;
    const canGoOn = exchange.canGoOn(this.#waitsForContinue(exchange));
    // Without chunks, only the end of the connection tells the client where a stream ends. So the connection closes.
    const endsStream = stream !== undefined && !takesChunks;
    exchange.closes = answer.closesConnection || this.#finishing || isDraining || !canGoOn || endsStream;
    this.#enter("sending");
    if (stream) {
      this.#write(streamHead(answer, clock.date, exchange.closes, takesChunks));
      exchange.stream(stream, (bytes) => this.#write(bytes));
      if (exchange.isStreamed && this.#inputEnded) this.cut();
    } else {
      exchange.isAnswered = true;
      for (const piece of answerPieces(answer, clock.date, exchange.closes, method !== "HEAD")) this.#write(piece);
    }
  }

  #write(piece: Piece): void {
    const wasEmpty = this.#unsent.isEmpty;
    this.#unsent.add(piece);
    if (!wasEmpty) return;
    if (this.#phase === "streaming") this.#enter("sending");
    this.#host.sendSoon(this);
  }

  /** Called when all bytes in the send queue have been sent. */
  #sent(exchange: Exchange): void {
    if (!exchange.isAnswered) {
      this.#enter("streaming");
      exchange.pull();
    } else if (exchange.closes) this.#end();
    else if (exchange.body.isComplete) this.#next();
    else {
      exchange.body.skip();
      this.#enter("skipping");
      this.#input.resume();
      if (this.#inputEnded && this.#input.bytes === undefined) this.#end();
    }
  }

  #next(): void {
    this.#exchange = undefined;
    this.#enter("idle");
    this.#input.resume();
    if (this.#finishing || (this.#inputEnded && this.#input.bytes === undefined)) this.#end();
  }

  /**
   * Moves bytes from the input to the body. Throws a `Refusal` if the body is malformed or too large, or if
   * the unfinished bodies of all connections exceed their limit.
   */
  #takeBody(body: RequestBody): void {
    const { bytes } = this.#input;
    if (bytes !== undefined) this.#input.drop(body.take(bytes));
  }

  #takeAwaitedBody({ body }: Exchange): void {
    try {
      this.#takeBody(body);
      if (!body.isComplete) return;
      this.#enter("answering");
      body.deliver();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#failBody(error);
    }
  }

  #failBody(refusal: Refusal): void {
    this.#enter("answering");
    this.#exchange?.body.fail(refusal);
  }

  #takeSkippedBody({ body }: Exchange): boolean {
    try {
      this.#takeBody(body);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#end();
      return false;
    }
    if (body.isComplete) this.#next();
    else if (this.#inputEnded) this.#end();
    return body.isComplete;
  }

  /**
   * Closes our side after the last answer. Then waits for the client to close its side, unless the client already has.
   */
  #end(): void {
    this.#enter("lingering");
    this.#exchange?.body.skip();
    this.#exchange = undefined;
    this.#input.clear();
    this.#input.resume();
    if (this.#inputEnded) this.#transport.end();
    else this.#transport.shutdown();
  }
}
