// Listens on a port of one or more addresses, and serves the connections, over TLS if there is a certificate. The server
// limits how many connections are open, and enforces their time limits. When the server stops, it gives the requests in
// progress time to finish.

import { constants } from "node:crypto";
import { Clock } from "./clock.ts";
import { Connection } from "./connection.ts";
import type { ConnectionHost, ConnectionLimits, Sender } from "./connection-host.ts";
import { KnownHeads } from "./known-heads.ts";
import type { Handler } from "./message.ts";
import { overloaded } from "./refusal.ts";
import { addressKey, SharedLimit } from "./shared-limit.ts";

// TLS 1.2 or newer; for TLS 1.2, AEAD ciphers only.
const tlsPolicy = {
  secureOptions: constants.SSL_OP_NO_TLSv1 | constants.SSL_OP_NO_TLSv1_1,
  ciphers: ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"]
    .flatMap((cipher) => [`ECDHE-ECDSA-${cipher}`, `ECDHE-RSA-${cipher}`])
    .join(":"),
  ALPNProtocols: Buffer.from("\x08http/1.1", "latin1"),
};

/**
 * How many connections may be open. Above this, those that wait for their clients are closed, and requests on new ones
 * are refused.
 */
export const connectionsMax: number = 10_000;

/** The time limits are checked at this interval. So a limit may be enforced late, by up to this time. */
const tickMs = 100;
/**
 * This many connections above the limit get an answer that refuses them, half of them from one address at most. Further
 * connections are closed at once.
 */
export const surplusMax: number = 1_000;
/**
 * At the limit, connections that have waited for their clients for this long are closed to make room: idle ones, and
 * those with an unfinished handshake, head or body. This is done at most once in this time.
 */
const spareWaitMs = 1_000;
const tooManyConnections = overloaded("Too many connections are open");
/** Once every answer is sent, `stop` waits at most this many times `tickMs` for the clients to close. */
const closingTicks = 3;
/**
 * If the system picks a port that is in use on another of the addresses, it picks again. After this many ports, we give
 * up.
 */
const freePortAttempts = 20;

/** A certificate with its chain, and its private key. Both are PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface ListenOptions extends ConnectionLimits {
  readonly addresses: readonly string[];
  /** 0 picks a port that is free on all addresses. */
  readonly port: number;
  /** Makes the server speak HTTPS. Without a certificate it speaks plain HTTP. */
  readonly certificate?: Certificate | undefined;
  /** The open connections. Give this if several servers share the limit, or if addresses are not limited. */
  readonly connections?: SharedLimit;
  /** Connections above the limit. Give this if several servers share it, or if addresses are not limited. */
  readonly surplus?: SharedLimit;
  /** Called if a TLS handshake fails, unless the server itself broke it off. */
  readonly onHandshakeFailure: (peer: string, error: Error) => void;
  /** Called with an error that should not have happened. Only the connection that it happened on is dropped. */
  readonly onDefect: (error: unknown) => void;
}

/** The runtime cannot listen on this address, for the reason in `cause`. */
export class AddressError extends Error {
  override readonly name = "AddressError";
  readonly address: string;

  constructor(address: string, cause: Error) {
    super(`${address}: ${cause.message}`, { cause });
    this.address = address;
  }
}

/** Calls `start`, which must listen on this address. If `start` throws an error, throws an `AddressError` instead. */
export function listenOn<Listener>(address: string, start: () => Listener): Listener {
  try {
    return start();
  } catch (error) {
    throw error instanceof Error ? new AddressError(address, error) : error;
  }
}

/** Throws an `AddressError` if it cannot listen on one of the addresses. */
export function listen(handler: Handler, options: ListenOptions): RunningServer {
  return new Server(handler, options);
}

export type RunningServer = Pick<Server, "port" | "replaceCertificate" | "drain" | "stop">;

type Socket = Bun.Socket<Connection>;

class Server implements ConnectionHost {
  readonly limits: ConnectionLimits;
  readonly clock = new Clock();
  readonly knownHeads = new KnownHeads();
  readonly port: number;
  isDraining = false;
  readonly #options: ListenOptions;
  /** Limits the connections that are served. */
  readonly #served: SharedLimit;
  /** Limits the connections that get an answer which refuses them. */
  readonly #surplus: SharedLimit;
  readonly #listeners: readonly Bun.TCPSocketListener<Connection>[];
  /** Each open connection, and the limit that it counts towards. */
  readonly #connections = new Map<Connection, SharedLimit | undefined>();
  readonly #handler: Handler;
  /** The handler of connections above the limit. It refuses every request. */
  readonly #surplusHandler: Handler;
  #certificate: Certificate | undefined;
  #timer: Timer | undefined;
  #toSend: Sender[] = [];
  #madeRoomAt = 0;
  #stopped: Promise<number> | undefined;
  #onTick: (() => void) | undefined;

  constructor(handler: Handler, options: ListenOptions) {
    this.#handler = handler;
    this.#surplusHandler = {
      handle: (request) => handler.refuse(tooManyConnections, request),
      refuse: (refusal) => handler.refuse(refusal),
    };
    this.#options = options;
    this.limits = options;
    this.#served = options.connections ?? new SharedLimit(connectionsMax);
    this.#surplus = options.surplus ?? new SharedLimit(surplusMax);
    this.#certificate = options.certificate;
    this.#listeners = this.#listen();
    this.port = this.#listeners[0]?.port ?? 0;
  }

  // Collects the answers of one turn of the event loop and sends them together at its end. Then the first answer wakes
  // the client, and the answers on its other connections find it awake. If each answer were sent as soon as it is
  // ready, each might have to wake the client, which is expensive.
  sendSoon(sender: Sender): void {
    if (this.#toSend.push(sender) === 1) setImmediate(() => this.#sendAll());
  }

  /** Uses another certificate for new connections; existing connections are unaffected. */
  replaceCertificate(certificate: Certificate): void {
    this.#certificate = certificate;
  }

  /**
   * Prepares for a stop. Everything is answered as usual, but each answer closes its connection. Otherwise a client
   * that keeps connections open, such as a proxy, might send its next request just when the stop closes the connection.
   */
  drain(): void {
    this.isDraining = true;
  }

  /**
   * Stops accepting connections and waits for the answers in progress. After the grace period it drops the connections
   * that are still busy, and resolves with their number. A second call waits for the first.
   */
  stop(graceMs: number): Promise<number> {
    this.#stopped ??= this.#stop(graceMs);
    return this.#stopped;
  }

  async #stop(graceMs: number): Promise<number> {
    for (const listener of this.#listeners) listener.stop(false);
    for (const connection of this.#connections.keys()) connection.finish();
    const cutCount = await this.#quiet(graceMs);
    for (const connection of this.#connections.keys()) connection.cut();
    clearInterval(this.#timer);
    return cutCount;
  }

  #sendAll(): void {
    const senders = this.#toSend;
    this.#toSend = [];
    for (const sender of senders) this.#attempt(sender, () => sender.drained());
  }

  /** An unexpected error drops only the connection that it happened on. */
  #attempt(connection: Sender, action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#options.onDefect(error);
      connection.cut();
    }
  }

  /**
   * Waits until all connections are closed or none has been busy for `closingTicks` ticks, but no longer than the grace
   * period. Resolves with how many are still busy.
   */
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
    for (const { busy } of this.#connections.keys()) if (busy) count++;
    return count;
  }

  #listen(): Bun.TCPSocketListener<Connection>[] {
    const { addresses, port } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const listeners: Bun.TCPSocketListener<Connection>[] = [];
      try {
        for (const address of addresses) listeners.push(this.#listenOn(address, listeners[0]?.port ?? port));
        return listeners;
      } catch (error) {
        for (const listener of listeners) listener.stop(true);
        if (port !== 0 || listeners.length === 0 || attempt === freePortAttempts) throw error;
      }
    }
  }

  #listenOn(hostname: string, port: number): Bun.TCPSocketListener<Connection> {
    const { certificate } = this.#options;
    const served = {
      data: (socket: Socket, bytes: Buffer) => socket.data.receive(bytes),
      drain: (socket: Socket) => socket.data.drained(),
      end: (socket: Socket) => socket.data.ended(),
      close: (socket: Socket) => this.#closed(socket.data),
      error: (socket: Socket, error: Error) => this.#failed(socket, error),
    };
    const clearText = {
      ...served,
      open: (socket: Socket) => this.#accept(socket, socket.remoteAddress, false),
    };
    // Ignore the raw data: the TLS socket on top of this one delivers the decrypted content.
    const encrypted = { open: (socket: Socket) => this.#secure(socket, served), data() {}, close() {}, error() {} };
    const socket = certificate ? encrypted : clearText;
    const options = { hostname, port, allowHalfOpen: true, socket };
    return listenOn(hostname, () => Bun.listen<Connection>(options));
  }

  /** Starts TLS with the current certificate, so a new certificate takes effect with the next connection. */
  #secure(socket: Socket, served: object): void {
    const peer = socket.remoteAddress;
    const upgrade = {
      tls: { ...this.#certificate, ...tlsPolicy },
      isServer: true,
      allowHalfOpen: true,
      socket: {
        ...served,
        open() {},
        handshake: (secure: Socket, isSecure: boolean, error: Error | null) => {
          if (isSecure) return secure.data.secured();
          if (error && secure.data.isInHandshake) this.#options.onHandshakeFailure(peer, error);
          secure.terminate();
        },
      },
    };
    // After this call, only the TLS socket can be closed, not the raw socket. So the connection gets the TLS socket.
    const [, secure] = socket.upgradeTLS<Connection>(upgrade);
    this.#accept(secure, peer, true);
  }

  /** Creates the connection of a socket, but drops it if far too many are open. */
  #accept(socket: Socket, peer: string, isSecure: boolean): void {
    // The clock stands still while there are no connections. The new connection's time limits need it, so start it.
    if (this.#connections.size === 0) this.#startTicking();
    const limit = this.#limitFor(peer);
    const handler = limit === this.#served ? this.#handler : this.#surplusHandler;
    // Set this first, because the `close` callback of a dropped socket uses it.
    socket.data = new Connection(socket, peer, isSecure, handler, this);
    this.#connections.set(socket.data, limit);
    if (!limit) socket.data.cut();
  }

  /** Counts a new connection, and returns the limit that it counts towards. Undefined if far too many are open. */
  #limitFor(peer: string): SharedLimit | undefined {
    if (this.#served.take(peer)) return this.#served;
    this.#makeRoom(this.#served.isExhausted ? undefined : addressKey(peer));
    return this.#surplus.take(peer) ? this.#surplus : undefined;
  }

  /** Closes connections that wait for their clients. If a key is given, only those of this address. */
  #makeRoom(key?: string): void {
    const { now } = this.clock;
    if (now - this.#madeRoomAt < spareWaitMs) return;
    this.#madeRoomAt = now;
    for (const connection of this.#connections.keys()) {
      const isMeant = key === undefined || key === addressKey(connection.peer);
      if (!isMeant || now - connection.waitingSince <= spareWaitMs) continue;
      this.#attempt(connection, () => connection.stopWaiting(tooManyConnections));
    }
  }

  #closed(connection: Connection): void {
    this.#connections.get(connection)?.giveBack(connection.peer);
    this.#connections.delete(connection);
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
    for (const connection of this.#connections.keys()) this.#attempt(connection, () => connection.look(now));
    this.limits.unsentBytes.enforceLimit();
    this.#onTick?.();
  }
}
