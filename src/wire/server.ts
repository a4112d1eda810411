// Sockets around the app: listening, the limits that only a socket has, and stopping without
// dropping what was accepted.

import { constants } from "node:crypto";
import { networkInterfaces } from "node:os";
import type { App } from "../http/app.ts";
import { describeError, type Log } from "../http/log.ts";
import { Clock } from "./clock.ts";
import { Connection } from "./http1-connection.ts";
import { Http2Connection } from "./http2-connection.ts";
import type { Answer, HttpRequest } from "./message.ts";
import { overloaded, type Refusal } from "./refusal.ts";
import type { ConnectionHost, ConnectionLimits, ServedConnection, Wire } from "./served-connection.ts";
import { type Turn, Turns } from "./turn.ts";

// TLS 1.2 and newer only, and of the older one only the ciphers that authenticate what they encrypt.
const tlsPolicy = {
  secureOptions: constants.SSL_OP_NO_TLSv1 | constants.SSL_OP_NO_TLSv1_1,
  ciphers: ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"]
    .flatMap((cipher) => [`ECDHE-ECDSA-${cipher}`, `ECDHE-RSA-${cipher}`])
    .join(":"),
  ALPNProtocols: Buffer.from("\x02h2\x08http/1.1", "latin1"),
};

/** A year, as browsers' lists of HTTPS-only sites ask for. */
const strictTransport = { "Strict-Transport-Security": "max-age=31536000" };

/** How often connections are looked at, and so how much later than asked a time limit may be noticed. */
const tickMs = 100;
/** Connections over the limit that are still told so; any more are closed without a word. */
const surplusMax = 1_000;
/** When there is no room, a connection that has been idle for this long makes some. */
const spareIdleMs = 1_000;
/** For how many ticks a stop waits for others to close when nothing is left to answer. */
const closingTicks = 3;

/** A certificate, with those that vouch for it, and its key: both PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** How many connections a process has, over all of its servers. */
export interface ConnectionCount {
  open: number;
  readonly max: number;
}

export interface ServerOptions extends ConnectionLimits {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Let other processes listen on the same port: the system spreads the connections among them. */
  readonly sharesPort: boolean;
  /** For HTTPS; without one the server speaks clear text. */
  readonly certificate: Certificate | undefined;
  /** Tells browsers to use nothing but HTTPS from now on. */
  readonly hsts: boolean;
  readonly connections: ConnectionCount;
  readonly log: Log;
  readonly logRequests: boolean;
}

export interface RunningServer {
  readonly port: number;
  /** Uses another certificate for connections from now on; those there are go on with the old one. */
  replaceCertificate(certificate: Certificate): void;
  /** Stops accepting, waits for the answers under way, and cuts those not done when the grace is over: says how many. */
  stop(graceMs: number): Promise<number>;
}

/** The address cannot be listened on; `message` says why and what to do. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

export function startServer(app: App, options: ServerOptions): RunningServer {
  return new Server(app, options);
}

type Socket = Bun.Socket<ServedConnection>;

class Server implements RunningServer, ConnectionHost {
  readonly limits: ConnectionLimits;
  readonly clock = new Clock();
  readonly #turns = new Turns();
  readonly port: number;
  readonly #app: App;
  readonly #options: ServerOptions;
  readonly #listener: Bun.TCPSocketListener<ServedConnection>;
  readonly #connections = new Set<ServedConnection>();
  /** For connections over the limit: every request is refused. */
  readonly #surplusHost: ConnectionHost;
  #certificate: Certificate | undefined;
  #timer: Timer | undefined;
  #toSend: ServedConnection[] = [];
  #madeRoomAt = 0;
  #onTick: (() => void) | undefined;

  constructor(app: App, options: ServerOptions) {
    this.#app = app;
    this.#options = options;
    this.limits = options;
    this.#certificate = options.certificate;
    const refuse = (refusal: Refusal) => this.refuse(refusal);
    this.#surplusHost = {
      limits: this.limits,
      clock: this.clock,
      turn: () => undefined,
      handle: (request) => app.refuse(overloaded(), request),
      refuse,
      sendSoon: (connection) => this.sendSoon(connection),
    };
    this.#listener = this.#listen();
    this.port = this.#listener.port;
  }

  turn(): Turn | undefined {
    return this.#turns.token(this.#options.connections.open);
  }

  handle(request: HttpRequest): Answer | Promise<Answer> {
    const { hsts, certificate, logRequests } = this.#options;
    if (!logRequests && !(hsts && certificate)) return this.#app.handle(request);
    return this.#handleWithMore(request);
  }

  refuse(refusal: Refusal): Answer {
    return this.#decorated(this.#app.refuse(refusal));
  }

  // All that is answered in a turn of the event loop is sent at its end, one after the other. Sent one by
  // one, each answer may find its reader asleep, and to wake it costs as much as to read a request.
  sendSoon(connection: ServedConnection): void {
    if (this.#toSend.push(connection) === 1) setImmediate(() => this.#sendAll());
  }

  #sendAll(): void {
    const connections = this.#toSend;
    this.#toSend = [];
    for (const connection of connections) this.#attempt(connection, () => connection.drained());
  }

  /** A defect met on one connection ends that one, and no other. */
  #attempt(connection: ServedConnection, action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#options.log("error", describeError(error));
      connection.cut();
    }
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

  /** Resolves when nothing is under way, or when the grace is over: to how many requests still are. */
  #quiet(graceMs: number): Promise<number> {
    const until = performance.now() + graceMs;
    let ticks = 0;
    return new Promise((resolve) => {
      this.#onTick = () => {
        const busyCount = this.#busyCount();
        ticks = busyCount === 0 ? ticks + 1 : 0;
        const isQuiet = this.#connections.size === 0 || ticks >= closingTicks;
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

  #listen(): Bun.TCPSocketListener<ServedConnection> {
    const { host, port, sharesPort, certificate } = this.#options;
    const flag = certificate ? "--https-port" : "--port";
    const served = {
      data: (socket: Socket, bytes: Buffer) => socket.data.receive(bytes),
      drain: (socket: Socket) => socket.data.drained(),
      end: (socket: Socket) => socket.data.ended(),
      close: (socket: Socket) => this.#closed(socket.data),
      error: (socket: Socket, error: Error) => this.#failed(socket, error),
    };
    const open = certificate
      ? (socket: Socket) => this.#secure(socket, served)
      : (socket: Socket) => {
          const host = this.#countIn();
          socket.data = new Connection(socket, socket.remoteAddress, host, false);
          this.#admit(socket.data);
        };
    // What a socket that carries TLS receives is none of ours: the one on top of it is.
    const handlers = certificate ? { open, data() {}, close() {}, error() {} } : { open, ...served };
    const listenOptions = { hostname: host, port, allowHalfOpen: true, reusePort: sharesPort, socket: handlers };
    return listen(host, port, flag, () => Bun.listen<ServedConnection>(listenOptions));
  }

  /** The certificate is chosen for each connection, so that it may change while others go on. */
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
              : new Connection(secure, remoteAddress, host, true);
          this.#connections.add(secure.data);
        },
      },
    };
    // From now on only the upper of the two sockets can be closed.
    const [, secure] = socket.upgradeTLS<ServedConnection>(upgrade);
    secure.data = new Handshake(secure, host);
    this.#admit(secure.data);
  }

  /** Counts a connection that is about to be made, and says whose it will be. */
  #countIn(): ConnectionHost {
    const { connections } = this.#options;
    // Its time runs from now, and without connections the clock stands still.
    if (this.#connections.size === 0) this.#tickFromNowOn();
    connections.open++;
    if (connections.open <= connections.max) return this;
    this.#makeRoom();
    return this.#surplusHost;
  }

  /** To be called when the socket knows its connection: one too many is closed at once. */
  #admit(connection: ServedConnection): void {
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

  #closed(connection: ServedConnection): void {
    if (this.#connections.delete(connection)) this.#options.connections.open--;
    connection.closed();
    if (this.#connections.size > 0) return;
    clearInterval(this.#timer);
    this.#onTick?.();
  }

  #failed(socket: Socket, error: Error): void {
    this.#options.log("error", describeError(error));
    socket.terminate();
  }

  #tickFromNowOn(): void {
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

  async #handleWithMore(request: HttpRequest): Promise<Answer> {
    const { log, logRequests, certificate } = this.#options;
    const start = performance.now();
    const answer = this.#decorated(await this.#app.handle(request));
    if (!logRequests) return answer;
    const { method } = request;
    const { status } = answer;
    const query = request.query === "" ? "" : `?${request.query}`;
    const url = `${certificate ? "https" : "http"}://${request.headers.get("host") ?? ""}${request.path}${query}`;
    const milliseconds = Math.round(performance.now() - start);
    log("info", `${method} ${url} ${status} ${milliseconds}ms`, { method, url, status, milliseconds });
    return answer;
  }

  #decorated(answer: Answer): Answer {
    const { hsts, certificate } = this.#options;
    return hsts && certificate ? answer.with(strictTransport) : answer;
  }
}

/** A connection that has not yet agreed on its keys. */
class Handshake implements ServedConnection {
  readonly busy = false;
  readonly idleSince = Number.POSITIVE_INFINITY;
  readonly #wire: Wire;
  readonly #deadline: number;

  constructor(wire: Wire, host: ConnectionHost) {
    this.#wire = wire;
    this.#deadline = host.clock.now + host.limits.requestTimeoutMs;
  }

  receive(): void {}
  drained(): void {}
  closed(): void {}

  ended(): void {
    this.cut();
  }

  look(now: number): void {
    if (now >= this.#deadline) this.cut();
  }

  finish(): void {
    this.cut();
  }

  cut(): void {
    this.#wire.terminate();
  }
}

/** Throws where another program listens; a listener that shares its port would not notice. */
export function checkPortIsFree(host: string, port: number, flag: string): void {
  const probe = () => Bun.listen({ hostname: host, port, socket: { data() {} } });
  if (port !== 0) listen(host, port, flag, probe).stop(true);
}

function listen<Server>(host: string, port: number, flag: string, start: () => Server): Server {
  try {
    return start();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new ListenError(listenAdvice(host, port, flag, error), { cause: error });
  }
}

// The runtime's error codes cannot be relied on for a host it cannot resolve, so that is looked at first.
function listenAdvice(host: string, port: number, flag: string, error: Error): string {
  const code = "code" in error ? error.code : undefined;
  if (!isLocalAddress(host)) {
    return `${host} is not an address of this machine, or port ${port} is in use there. Choose one with --host: 127.0.0.1 for this machine only, 0.0.0.0 for the network.`;
  }
  if (code === "EADDRINUSE") {
    return `Port ${port} on ${host} is in use by another program. Choose another with ${flag}, or let the system pick one with ${flag} 0.${airPlayHint(port)}`;
  }
  if (code === "EACCES") return `This user may not listen on port ${port}. Choose one above 1023 with ${flag}.`;
  return `Port ${port} on ${host} cannot be listened on: ${error.message}.`;
}

function isLocalAddress(host: string): boolean {
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return (
    ["localhost", "0.0.0.0", "::"].includes(host) ||
    addresses.some(({ address }) => address === host) ||
    host.startsWith("127.")
  );
}

function airPlayHint(port: number): string {
  return process.platform === "darwin" && port === 5000
    ? " On macOS, the AirPlay Receiver listens on port 5000; it can be switched off in System Settings."
    : "";
}
