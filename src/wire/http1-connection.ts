// One HTTP/1.1 connection: bytes come in, requests go to the app one after the other, answers go out.
// It keeps what one connection may cost within bounds: in time, and in bytes that wait on either side.

import { answerPieces, chunkBytes, lastChunkBytes, type Piece, streamHead } from "./answer-pieces.ts";
import { BodyContent } from "./body-content.ts";
import { type BodyFraming, ChunkedFraming, LengthFraming } from "./body-framing.ts";
import { type Answer, deaf, type HttpRequest, isStream, type StreamBody, type StreamSource } from "./message.ts";
import { bodyTooLarge, headTooLarge, leftEarly, malformed, Refusal, tooSlow } from "./refusal.ts";
import { parseHead, type RequestHead } from "./request-head.ts";
import type { ConnectionHost, ServedConnection, Wire } from "./served-connection.ts";
import { longReadBytes, type Turn } from "./turn.ts";

type Phase = "idle" | "head" | "body" | "answering" | "sending" | "skipping" | "lingering" | "closed";

/** Requests sent ahead are kept up to here; then the socket is not read until they had their turn. */
const aheadBytesMax = 64 * 1024;
/**
 * Many clients send a body to its end before they look for an answer, and see only a broken connection if
 * it is closed under them. So the rest of a refused body passes by unkept, up to this length.
 */
const skippedBytesMax = 64 * 1024 ** 2;
/** How long the other side may take to read a last answer and close; a reset could take it from its hands. */
const lingerMs = 2_000;

const shortHeadBytes = 1024;
const continueBytes = Buffer.from("HTTP/1.1 100 Continue\r\n\r\n");
const noBody = new LengthFraming(0);
const nothing = new Uint8Array();
const never = Number.POSITIVE_INFINITY;

export class Connection implements ServedConnection {
  readonly #wire: Wire;
  readonly #host: ConnectionHost;
  readonly isSecure: boolean;
  readonly peer: string;
  #phase: Phase = "idle";
  #deadline: number;

  /** Bytes that came and had no turn yet. */
  #input: Buffer | undefined;
  #paused = false;
  #proceeding = false;
  #inputEnded = false;
  /**
   * The next request is the first of the bytes just read. In clear text, these are read because the first
   * of them was there when the turn of the event loop began; any more may have come later.
   */
  #isFirst = false;
  #mayReadOn = false;
  /** The last head, as text and as what it says; and the bytes it came in, if nothing else came with it. */
  #lastText = "";
  #lastHead: RequestHead | undefined;
  #lastBytes: Buffer | undefined;

  /** The request under way: its head, how its body ends, and what of that was kept. */
  #head: RequestHead | undefined;
  #framing: BodyFraming = noBody;
  readonly #content = new BodyContent();
  #contentMax = 0;
  #skippedLength = 0;
  #reader: PromiseWithResolvers<Uint8Array> | undefined;
  #saidContinue = false;
  /** When the time for the whole request is over. */
  #requestDeadline = never;

  /** Of the first piece, the bytes before the offset have been sent. */
  #unsent: Piece[] = [];
  #unsentOffset = 0;
  /** Its last byte has been handed over, maybe to wait in `#unsent`. */
  #answered = false;
  #source: StreamSource | undefined;
  #closes = false;
  #finishing = false;

  constructor(wire: Wire, peer: string, host: ConnectionHost, isSecure: boolean) {
    this.#wire = wire;
    this.peer = peer;
    this.#host = host;
    this.isSecure = isSecure;
    this.#deadline = this.#in(host.limits.idleTimeoutMs);
  }

  get busy(): boolean {
    return this.#phase === "body" || this.#phase === "answering" || this.#phase === "sending";
  }

  get idleSince(): number {
    return this.#phase === "idle" ? this.#deadline - this.#host.limits.idleTimeoutMs : never;
  }

  receive(bytes: Buffer): void {
    if (this.#phase === "lingering" || this.#phase === "closed") return;
    this.#isFirst = this.#phase === "head" || (this.#phase === "idle" && !this.#mayReadOn);
    this.#mayReadOn = bytes.length >= longReadBytes;
    // Clients mostly send the same request again and again.
    if (this.#lastHead && this.#phase === "idle" && this.#input === undefined && this.#lastBytes?.equals(bytes)) {
      this.#requestDeadline = this.#in(this.#host.limits.requestTimeoutMs);
      this.#begin(this.#lastHead);
      return;
    }
    this.#input = this.#input === undefined ? bytes : Buffer.concat([this.#input, bytes]);
    this.#proceed();
  }

  drained(): void {
    for (let piece = this.#unsent[0]; piece !== undefined; piece = this.#unsent[0]) {
      if (!this.#send(piece)) return;
      this.#unsent.shift();
      this.#unsentOffset = 0;
    }
    this.#flushed();
    this.#proceed();
  }

  /** Sends what the socket takes of the first piece, and says whether that was all. */
  #send(piece: Piece): boolean {
    const length = (typeof piece === "string" ? Buffer.byteLength(piece) : piece.length) - this.#unsentOffset;
    const written =
      typeof piece === "string" ? this.#wire.write(piece) : this.#wire.write(piece, this.#unsentOffset, length);
    if (written === length) return true;
    // Only bytes can be cut anywhere.
    if (typeof piece === "string") this.#unsent[0] = Buffer.from(piece);
    if (written > 0) {
      this.#unsentOffset += written;
      // What is sent before an answer, "100 Continue", gives the body no other time than it has.
      if (this.#phase === "sending") this.#deadline = this.#in(this.#host.limits.idleTimeoutMs);
    }
    return false;
  }

  ended(): void {
    this.#inputEnded = true;
    // Whoever reads a stream closes at once if at all; others may be waiting for their answer.
    if (this.#source) this.cut();
    else if (this.#phase === "idle" || this.#phase === "head" || this.#phase === "skipping") this.#end();
    else if (this.#phase === "body") this.#failBody(leftEarly());
  }

  closed(): void {
    this.#phase = "closed";
    this.#deadline = never;
    this.#unsent = [];
    this.#input = undefined;
    this.#reader?.reject(leftEarly());
    this.#reader = undefined;
    this.#source?.cancel();
    this.#source = undefined;
  }

  look(now: number): void {
    if (now < this.#deadline) return;
    if (this.#phase === "idle") this.#end();
    else if (this.#phase === "head") this.#refuse(tooSlow("request", this.#host.limits));
    else if (this.#phase === "body") this.#failBody(tooSlow("body", this.#host.limits));
    else this.cut();
  }

  finish(): void {
    this.#finishing = true;
    if (this.#phase === "idle" || this.#phase === "head" || this.#phase === "skipping") this.#end();
  }

  cut(): void {
    this.#wire.terminate();
  }

  /** Of the request under way. */
  readBody(bytesMax: number): Uint8Array | Promise<Uint8Array> {
    const head = this.#head;
    if (!head || head.bodyLength === 0) return nothing;
    if (this.#phase === "closed") throw leftEarly();
    if (head.bodyLength !== "chunked" && head.bodyLength > bytesMax) {
      throw bodyTooLarge(bytesMax, head.bodyLength > skippedBytesMax);
    }
    if (head.expectsContinue && this.#input === undefined) {
      this.#saidContinue = true;
      this.#write(continueBytes);
    }
    this.#phase = "body";
    this.#contentMax = bytesMax;
    if (this.#input !== undefined) this.#takeBody(this.#input);
    if (this.#framing.done) return this.#takeContent();
    if (this.#inputEnded) throw leftEarly();
    this.#deadline = this.#requestDeadline;
    this.#resume();
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  /** Does what can be done with the bytes that are there. */
  #proceed(): void {
    if (this.#proceeding) return;
    this.#proceeding = true;
    while (this.#input !== undefined && this.#step(this.#input));
    this.#proceeding = false;
    if (this.#input !== undefined && this.#input.length > aheadBytesMax && !this.#paused) {
      this.#paused = true;
      this.#wire.pause();
    }
  }

  /** True if it may be done again. */
  #step(input: Buffer): boolean {
    switch (this.#phase) {
      case "idle":
      case "head":
        return this.#takeHead(input);
      case "body":
      case "skipping":
        return this.#takeMoreBody(input);
      default:
        return false;
    }
  }

  #takeHead(input: Buffer): boolean {
    const { limits } = this.#host;
    let start = 0;
    // RFC 9112, section 2.2: empty lines before a request are passed over.
    while (input[start] === 0x0d && input[start + 1] === 0x0a) start += 2;
    if (start > 0) this.#isFirst = false;
    // Most heads are short, and what follows one may be long.
    let text = input.toString("latin1", start, start + Math.min(shortHeadBytes, limits.headerBytesMax + 4));
    let end = text.indexOf("\r\n\r\n");
    if (end === -1 && input.length - start > shortHeadBytes) {
      text = input.toString("latin1", start, start + limits.headerBytesMax + 4);
      end = text.indexOf("\r\n\r\n");
    }
    if (end === -1) {
      this.#input = start === input.length ? undefined : start === 0 ? input : input.subarray(start);
      return this.#awaitHead(text);
    }
    const next = start + end + 4;
    this.#input = next === input.length ? undefined : input.subarray(next);
    if (this.#phase === "idle") this.#requestDeadline = this.#in(limits.requestTimeoutMs);
    const head = this.#parse(text.slice(0, end));
    if (head instanceof Refusal) {
      this.#refuse(head);
      return false;
    }
    const isAlone = start === 0 && this.#input === undefined && head.bodyLength === 0;
    // Not as a part of something larger, which would be kept with it.
    this.#lastBytes = isAlone && input.buffer.byteLength === input.length ? input : undefined;
    this.#begin(head);
    return true;
  }

  #parse(text: string): RequestHead | Refusal {
    if (text === this.#lastText && this.#lastHead) return this.#lastHead;
    try {
      this.#lastHead = parseHead(text);
      this.#lastText = text;
      return this.#lastHead;
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  }

  /** There is no whole head yet, and there may never be. */
  #awaitHead(text: string): boolean {
    const { limits } = this.#host;
    const refusal = hopeless(text, limits.headerBytesMax);
    if (refusal) {
      this.#refuse(refusal);
    } else if (this.#inputEnded) {
      this.#end();
    } else if (this.#phase === "idle" && text !== "") {
      this.#phase = "head";
      this.#requestDeadline = this.#in(limits.requestTimeoutMs);
      this.#deadline = this.#requestDeadline;
    }
    return false;
  }

  #begin(head: RequestHead): void {
    this.#head = head;
    this.#framing =
      head.bodyLength === 0
        ? noBody
        : head.bodyLength === "chunked"
          ? new ChunkedFraming()
          : new LengthFraming(head.bodyLength);
    this.#saidContinue = false;
    this.#answered = false;
    this.#phase = "answering";
    this.#deadline = never;
    const turn = this.#isFirst && !this.isSecure ? this.#host.turn() : undefined;
    const answer = this.#host.handle(new Http1Request(head, this, turn));
    this.#isFirst = false;
    if (answer instanceof Promise) void answer.then((answer) => this.#answerLater(answer));
    else this.#answer(answer);
  }

  #answerLater(answer: Answer): void {
    this.#answer(answer);
    this.#proceed();
  }

  #answer(answer: Answer): void {
    const { body } = answer;
    const stream = isStream(body) ? body : undefined;
    if (this.#phase === "closed") {
      stream?.open(deaf).cancel();
      return;
    }
    const head = this.#head;
    this.#closes = answer.closesConnection || this.#finishing || !this.#canGoOn(head);
    this.#phase = "sending";
    if (stream) {
      this.#sendStream(answer, stream, head?.takesChunks ?? false);
      return;
    }
    this.#answered = true;
    const { date } = this.#host.clock;
    for (const piece of answerPieces(answer, date, this.#closes, head?.method !== "HEAD")) this.#write(piece);
  }

  #canGoOn(head: RequestHead | undefined): boolean {
    if (!head?.keepsConnection) return false;
    if (this.#framing.done) return true;
    // One that waits to be told to send its body may send it all the same, or the next request: nobody knows.
    const isWaiting = head.expectsContinue && !this.#saidContinue && this.#input === undefined;
    return !isWaiting && (head.bodyLength === "chunked" || head.bodyLength <= skippedBytesMax);
  }

  #sendStream(answer: Answer, stream: StreamBody, inChunks: boolean): void {
    // Without chunks only the end of the connection ends it.
    this.#closes ||= !inChunks;
    this.#write(streamHead(answer, this.#host.clock.date, this.#closes, inChunks));
    this.#source = stream.open({
      write: (bytes) => {
        if (this.#answered || this.#phase === "closed") return;
        this.#write(inChunks ? chunkBytes(bytes) : bytes);
      },
      end: () => {
        if (this.#answered || this.#phase === "closed") return;
        this.#answered = true;
        this.#source = undefined;
        this.#write(inChunks ? lastChunkBytes : nothing);
      },
    });
    if (this.#answered) this.#source = undefined;
  }

  #write(piece: Piece): void {
    this.#unsent.push(piece);
    if (this.#unsent.length > 1) return;
    this.#deadline = this.#in(this.#host.limits.idleTimeoutMs);
    this.#host.sendSoon(this);
  }

  /** Nothing waits to be sent. */
  #flushed(): void {
    if (this.#unsent.length > 0 || this.#phase !== "sending") return;
    if (!this.#answered) {
      this.#deadline = never;
      this.#source?.pull();
    } else if (this.#closes) {
      this.#end();
    } else if (this.#framing.done) {
      this.#next();
    } else {
      this.#phase = "skipping";
      this.#skippedLength = 0;
      this.#deadline = this.#in(this.#host.limits.requestTimeoutMs);
      this.#resume();
      if (this.#inputEnded && this.#input === undefined) this.#end();
    }
  }

  #next(): void {
    this.#head = undefined;
    this.#phase = "idle";
    this.#deadline = this.#in(this.#host.limits.idleTimeoutMs);
    this.#resume();
    if (this.#finishing || (this.#inputEnded && this.#input === undefined)) this.#end();
  }

  /** Hands the body of the request under way what belongs to it, or lets that pass by. */
  #takeMoreBody(input: Buffer): boolean {
    try {
      this.#takeBody(input);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (this.#phase === "skipping") this.#end();
      else this.#failBody(error);
      return false;
    }
    if (!this.#framing.done) {
      if (this.#phase === "skipping" && this.#inputEnded) this.#end();
      return false;
    }
    if (this.#phase === "skipping") {
      this.#next();
      return true;
    }
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.resolve(this.#takeContent());
    return false;
  }

  #takeBody(input: Buffer): void {
    const used = this.#framing.take(input, (content) => this.#keep(content));
    this.#input = used === input.length ? undefined : input.subarray(used);
  }

  #keep(content: Buffer): void {
    if (this.#phase === "skipping") {
      this.#skippedLength += content.length;
      if (this.#skippedLength > skippedBytesMax) throw bodyTooLarge(skippedBytesMax, true);
      return;
    }
    if (this.#content.length + content.length > this.#contentMax) throw bodyTooLarge(this.#contentMax, true);
    this.#content.add(content);
  }

  #takeContent(): Uint8Array {
    this.#phase = "answering";
    this.#deadline = never;
    return this.#content.take();
  }

  #failBody(refusal: Refusal): void {
    const reader = this.#reader;
    this.#reader = undefined;
    this.#content.drop();
    this.#phase = "answering";
    this.#deadline = never;
    reader?.reject(refusal);
  }

  /** Answers what is no request, and closes. */
  #refuse(refusal: Refusal): void {
    this.#head = undefined;
    this.#framing = noBody;
    this.#input = undefined;
    this.#answer(this.#host.refuse(refusal));
  }

  /** All is sent. What still comes is thrown away until the other side has closed too. */
  #end(): void {
    this.#phase = "lingering";
    this.#input = undefined;
    this.#deadline = this.#in(lingerMs);
    this.#resume();
    this.#wire.end();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#wire.resume();
  }

  #in(ms: number): number {
    return this.#host.clock.now + ms;
  }
}

class Http1Request implements HttpRequest {
  readonly #head: RequestHead;
  readonly #connection: Connection;
  readonly turn: Turn | undefined;

  constructor(head: RequestHead, connection: Connection, turn: Turn | undefined) {
    this.turn = turn;
    this.#head = head;
    this.#connection = connection;
  }

  get method() {
    return this.#head.method;
  }

  get path() {
    return this.#head.path;
  }

  get query() {
    return this.#head.query;
  }

  get headers() {
    return this.#head.headers;
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

/** Why the beginning of a head cannot become a whole one, if so. */
function hopeless(text: string, bytesMax: number): Refusal | undefined {
  if (/(?:^|[^\r])\n/.test(text)) return malformed("A line of the request's head does not end in CR LF");
  if (/^[^!#$%&'*+.^_`|~0-9A-Za-z\r-]/.test(text)) return malformed("The request does not begin with a method");
  // All but the last byte of the empty line that ends it may be there.
  if (text.length < bytesMax + 4) return undefined;
  return text.includes("\r\n")
    ? headTooLarge(bytesMax)
    : malformed(`The request's target is longer than ${bytesMax} bytes, the most this instance takes`, "TargetTooLong");
}
