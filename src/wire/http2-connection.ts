// One HTTP/2 connection. The runtime's HTTP/2 session runs on our socket. As for HTTP/1.1, we limit what one client can
// cost.

import {
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { type Connection, type ConnectionHost, noDeadline, type Transport } from "./connection.ts";
import { Http2Exchange } from "./http2-exchange.ts";
import { TransportStream } from "./transport-stream.ts";
import type { Turn } from "./turn.ts";

const streamsMax = 100;
/**
 * A connection is dropped if its client cancels more requests than this within `idleTimeoutMs`, each before its answer
 * has begun.
 */
const cancelledMax = 200;
/**
 * A connection is dropped if more bytes than this arrive in a row within `idleTimeoutMs` and contain no request and no
 * part of a body. Such a flood would keep a processor core busy. A change
 * feed may stay open for weeks, and its client sends a few frames from time to time. Those must not add up.
 */
const idleBytesMax = 1024 ** 2;
const lingerMs = 2_000;

const sessions = createServer({ settings: { maxConcurrentStreams: streamsMax, enablePush: false } });

export class Http2Connection implements Connection {
  readonly #transport: Transport;
  readonly #host: ConnectionHost;
  readonly #peer: string;
  readonly #stream: TransportStream;
  readonly #session: ServerHttp2Session;
  readonly #exchanges = new Set<Http2Exchange>();
  #idleDeadline: number;
  /** When both counts below begin again at zero. */
  #countsEnd: number;
  #idleBytes = 0;
  #cancelledCount = 0;
  #finishing = false;
  /** True if the client sends no more. The connection closes after the exchanges in progress. */
  #leaving = false;
  /** Set while bytes are being read. All requests in these bytes get this turn token. See turn.ts. */
  #turn: Turn | undefined;

  constructor(transport: Transport, peer: string, host: ConnectionHost) {
    this.#transport = transport;
    this.#peer = peer;
    this.#host = host;
    this.#idleDeadline = host.clock.now + host.limits.idleTimeoutMs;
    this.#countsEnd = this.#idleDeadline;
    this.#stream = new TransportStream(transport, () => host.sendSoon(this));
    this.#session = openSession(this.#stream);
    this.#session.on("stream", (stream, headers) => this.#begin(stream, headers));
    // The session itself cuts off a client that breaks the protocol, so there is nothing left to do here.
    this.#session.on("error", () => {});
    this.#session.on("close", () => {
      this.finish();
      this.#stream.shutdown();
    });
    // At the "end" event the session has read everything that arrived, so each request already has an `Http2Exchange`.
    this.#stream.on("end", () => this.#inputEnded());
  }

  get busy(): boolean {
    return this.#exchanges.size > 0;
  }

  get idleSince(): number {
    return this.busy ? noDeadline : this.#idleDeadline - this.#host.limits.idleTimeoutMs;
  }

  receive(bytes: Buffer): void {
    this.#idleBytes += bytes.length;
    if (this.#idleBytes > idleBytesMax) {
      this.cut();
      return;
    }
    this.#turn = {};
    this.#stream.receive(bytes);
    this.#turn = undefined;
  }

  drained(): void {
    this.#stream.drained();
  }

  ended(): void {
    this.#stream.receiveEnd();
  }

  closed(): void {
    for (const exchange of this.#exchanges) exchange.closed();
    this.#session.destroy();
    this.#stream.destroy();
  }

  look(now: number): void {
    for (const exchange of this.#exchanges) exchange.look(now);
    if (now >= this.#countsEnd) {
      this.#countsEnd = now + this.#host.limits.idleTimeoutMs;
      this.#idleBytes = 0;
      this.#cancelledCount = 0;
    }
    if (this.busy || now < this.#idleDeadline) return;
    if (this.#finishing) this.cut();
    else this.finish();
  }

  finish(): void {
    // A second call must not extend the deadline. Otherwise a client that never closes could stay connected.
    if (this.#finishing) return;
    this.#finishing = true;
    this.#idleDeadline = this.#host.clock.now + lingerMs;
    this.#session.close();
  }

  cut(): void {
    this.#transport.terminate();
  }

  /**
   * Called when the client will send no more. The session does not close by itself then, so we close it. The client may
   * still wait for answers, so those in progress are sent first.
   */
  #inputEnded(): void {
    this.#leaving = true;
    for (const exchange of this.#exchanges) exchange.inputEnded();
    if (!this.busy) this.#end();
  }

  /** Closes our side once everything is sent. */
  #end(): void {
    this.finish();
    this.#stream.end();
  }

  #begin(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    this.#idleBytes = 0;
    stream.on("error", () => {});
    if (this.#exchanges.size >= streamsMax) {
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    const exchange = new Http2Exchange(stream, this.#peer, this.#host, () => (this.#idleBytes = 0));
    this.#exchanges.add(exchange);
    stream.on("close", () => {
      this.#exchanges.delete(exchange);
      this.#idleDeadline = this.#host.clock.now + (this.#finishing ? lingerMs : this.#host.limits.idleTimeoutMs);
      if (!exchange.answered && ++this.#cancelledCount > cancelledMax) this.cut();
      if (exchange.closesConnection) this.finish();
      exchange.closed();
      if (this.#leaving && !this.busy) this.#end();
    });
    exchange.run(headers, this.#turn);
  }
}

// This way to open a session is not documented, but the runtime's own listener uses it too.
function openSession(stream: TransportStream): ServerHttp2Session {
  let session: ServerHttp2Session | undefined;
  sessions.once("session", (opened) => {
    session = opened;
  });
  sessions.emit("connection", stream);
  if (!session) throw new Error("the runtime did not make an HTTP/2 session for a connection");
  return session;
}
