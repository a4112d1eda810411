// Listens on a port and serves every connection, over HTTP/1.1 and, with a certificate, HTTPS and HTTP/2. It
// counts connections, ends what takes too long, and stops without dropping what was accepted.

import { constants } from "node:crypto";
import { Clock } from "./clock.ts";
import type { Connection, ConnectionHost, ConnectionLimits } from "./connection.ts";
import { Http1Connection } from "./http1-connection.ts";
import { Http2Connection } from "./http2-connection.ts";
import type { Handler } from "./message.ts";
import { overloaded } from "./refusal.ts";
import { TlsHandshake } from "./tls-handshake.ts";
import { type Turn, Turns } from "./turn.ts";

// TLS 1.2 and newer and, of TLS 1.2, only the ciphers that authenticate what they encrypt.
const tlsPolicy = {
  secureOptions: constants.SSL_OP_NO_TLSv1 | constants.SSL_OP_NO_TLSv1_1,
  ciphers: ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"]
    .flatMap((cipher) => [`ECDHE-ECDSA-${cipher}`, `ECDHE-RSA-${cipher}`])
    .join(":"),
  ALPNProtocols: Buffer.from("\x02h2\x08http/1.1", "latin1"),
};

/** How often connections are looked at, and so how late a time limit may be noticed. */
const tickMs = 100;
/** This many connections above the limit are answered 503; any more are closed without an answer. */
const surplusMax = 1_000;
/** At the limit, connections that have been idle for this long are closed to make room. */
const spareIdleMs = 1_000;
/** When nothing is left to answer, a stop waits this many ticks for the other sides to close. */
const closingTicks = 3;

/** A certificate with its chain, and its key: both PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** How many connections a process has, over all of its servers. */
interface ConnectionCount {
  open: number;
  readonly max: number;
}

export interface ListenOptions extends ConnectionLimits {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Let other processes listen on the same port: the system spreads the connections among them. */
  readonly sharesPort: boolean;
  /** For HTTPS; without one the server speaks clear text. */
  readonly certificate: Certificate | undefined;
  readonly connections: ConnectionCount;
  /** Called with an error that should not have happened. It ended one connection and no other. */
  readonly onDefect: (error: unknown) => void;
}

export interface RunningServer {
  readonly port: number;
  /** Uses another certificate for new connections; existing connections are unaffected. */
  replaceCertificate(certificate: Certificate): void;
  /**
   * Stops accepting and waits for the answers in progress. When the grace is over it cuts the rest, and resolves
   * with how many those were.
   */
  stop(graceMs: number): Promise<number>;
}

/** Throws what the runtime throws if the port cannot be listened on. */
export function listen(handler: Handler, options: ListenOptions): RunningServer {
  return new Server(handler, options);
}

type Socket = Bun.Socket<Connection>;

class Server implements RunningServer, ConnectionHost {
  readonly limits: ConnectionLimits;
  readonly clock = new Clock();
  readonly port: number;
  readonly handler: Handler;
  readonly #options: ListenOptions;
  readonly #listener: Bun.TCPSocketListener<Connection>;
  readonly #connections = new Set<Connection>();
  readonly #turns = new Turns();
  /** The host of connections above the limit: it refuses every request. */
  readonly #surplusHost: ConnectionHost;
  #certificate: Certificate | undefined;
  #timer: Timer | undefined;
  #toSend: Connection[] = [];
  #madeRoomAt = 0;
  #onTick: (() => void) | undefined;

  constructor(handler: Handler, options: ListenOptions) {
    this.handler = handler;
    this.#options = options;
    this.limits = options;
    this.#certificate = options.certificate;
    this.#surplusHost = {
      limits: this.limits,
      clock: this.clock,
      turn: () => undefined,
      handler: {
        handle: (request) => handler.refuse(overloaded(), request),
        refuse: (refusal) => handler.refuse(refusal),
      },
      sendSoon: (connection) => this.sendSoon(connection),
    };
    this.#listener = this.#listen();
    this.port = this.#listener.port;
  }

  turn(): Turn | undefined {
    return this.#turns.token(this.#options.connections.open);
  }

  // All answers of one turn of the event loop are sent at its end, one after the other. Sent one by one, each may
  // find its reader asleep, and waking a reader costs as much as reading a request.
  sendSoon(connection: Connection): void {
    if (this.#toSend.push(connection) === 1) setImmediate(() => this.#sendAll());
  }

  replaceCertificate(certificate: Certificate): void {
    this.#certificate = certificate;
  }

  async stop(graceMs: number): Promise<number> {
    this.#listener.stop(false);
    for (const connection of this.#connections) connection.finish();
    const cutCount = await this.#quiet(graceMs);
    for (const connection of this.#connections) connection.cut();
    clearInterval(this.#timer);
    return cutCount;
  }

  #sendAll(): void {
    const connections = this.#toSend;
    this.#toSend = [];
    for (const connection of connections) this.#attempt(connection, () => connection.drained());
  }

  /** A defect met on one connection ends that one, and no other. */
  #attempt(connection: Connection, action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#options.onDefect(error);
      connection.cut();
    }
  }

  /** Resolves when no request is in progress, or when the grace is over: with how many still are. */
  #quiet(graceMs: number): Promise<number> {
    const until = performance.now() + graceMs;
    let quietTicks = 0;
    return new Promise((resolve) => {
      this.#onTick = () => {
        const busyCount = this.#busyCount();
        quietTicks = busyCount === 0 ? quietTicks + 1 : 0;
        const isQuiet = this.#connections.size === 0 || quietTicks >= closingTicks;
        if (isQuiet || performance.now() >= until) resolve(busyCount);
      };
      this.#onTick();
    });
  }

  #busyCount(): number {
    let count = 0;
    for (const { busy } of this.#connections) if (busy) count++;
    return count;
  }

  #listen(): Bun.TCPSocketListener<Connection> {
    const { host: hostname, port, sharesPort: reusePort, certificate } = this.#options;
    const served = {
      data: (socket: Socket, bytes: Buffer) => socket.data.receive(bytes),
      drain: (socket: Socket) => socket.data.drained(),
      end: (socket: Socket) => socket.data.ended(),
      close: (socket: Socket) => this.#closed(socket.data),
      error: (socket: Socket, error: Error) => this.#failed(socket, error),
    };
    const clearText = {
      ...served,
      open: (socket: Socket) => {
        const host = this.#countIn();
        socket.data = new Http1Connection(socket, socket.remoteAddress, host, false);
        this.#admit(socket.data);
      },
    };
    // Ignore what the lower socket receives: the TLS socket on top of it delivers the content.
    const encrypted = { open: (socket: Socket) => this.#secure(socket, served), data() {}, close() {}, error() {} };
    const socket = certificate ? encrypted : clearText;
    const options = { hostname, port, allowHalfOpen: true, reusePort, socket };
    return Bun.listen<Connection>(options);
  }

  /** Puts TLS on a connection. Each gets the certificate of the moment, so it can be replaced while others go on. */
  #secure(socket: Socket, served: object): void {
    const host = this.#countIn();
    const upgrade = {
      tls: { ...this.#certificate, ...tlsPolicy },
      isServer: true,
      allowHalfOpen: true,
      socket: {
        ...served,
        open() {},
        handshake: (secure: Socket, isSecure: boolean) => {
          if (!isSecure) return secure.terminate();
          const { alpnProtocol, remoteAddress } = secure;
          this.#connections.delete(secure.data);
          secure.data =
            alpnProtocol === "h2"
              ? new Http2Connection(secure, remoteAddress, host)
              : new Http1Connection(secure, remoteAddress, host, true);
          this.#connections.add(secure.data);
        },
      },
    };
    // From now on only the upper of the two sockets can be closed.
    const [, secure] = socket.upgradeTLS<Connection>(upgrade);
    secure.data = new TlsHandshake(secure, host);
    this.#admit(secure.data);
  }

  /** Counts a connection that is about to be made, and returns the host it belongs to. */
  #countIn(): ConnectionHost {
    const { connections } = this.#options;
    // Its time runs from now, and the clock stands still while there are no connections.
    if (this.#connections.size === 0) this.#startTicking();
    connections.open++;
    if (connections.open <= connections.max) return this;
    this.#makeRoom();
    return this.#surplusHost;
  }

  /** Call it once the socket knows its connection: one too many is cut at once. */
  #admit(connection: Connection): void {
    const { open, max } = this.#options.connections;
    this.#connections.add(connection);
    if (open > max + surplusMax) connection.cut();
  }

  #makeRoom(): void {
    const { now } = this.clock;
    if (now - this.#madeRoomAt < spareIdleMs) return;
    this.#madeRoomAt = now;
    for (const connection of this.#connections) if (now - connection.idleSince > spareIdleMs) connection.finish();
  }

  #closed(connection: Connection): void {
    if (this.#connections.delete(connection)) this.#options.connections.open--;
    connection.closed();
    if (this.#connections.size > 0) return;
    clearInterval(this.#timer);
    this.#onTick?.();
  }

  #failed(socket: Socket, error: Error): void {
    this.#options.onDefect(error);
    socket.terminate();
  }

  #startTicking(): void {
    this.clock.tick();
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  #tick(): void {
    this.clock.tick();
    const { now } = this.clock;
    for (const connection of this.#connections) this.#attempt(connection, () => connection.look(now));
    this.#onTick?.();
  }
}
