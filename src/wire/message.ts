// Requests and answers as a handler sees them.

import type { Refusal } from "./refusal.ts";

/** Answers the requests that a server receives. */
export interface Handler {
  /** Must not throw, and must not return a promise that rejects. */
  handle(request: HttpRequest): Answer | Promise<Answer>;
  /** Returns the answer to a refused request. `request` is undefined if the input could not be read as a request. */
  refuse(refusal: Refusal, request?: HttpRequest): Answer;
}

/** Header fields by lower-case name. The values of a repeated field are joined with commas. */
export interface HeaderFields {
  get(name: string): string | undefined;
}

export interface HttpRequest {
  readonly method: string;
  /** As the client sent it: percent-encoding is not decoded. */
  readonly path: string;
  /** The part after the question mark, or "". */
  readonly query: string;
  readonly headers: HeaderFields;
  /** The address of the other end of the connection. Behind a proxy, that is the proxy's address. */
  readonly peer: string;
  /** True if the request came over TLS. */
  readonly isSecure: boolean;
  /**
   * Reads the whole body. Call this only once. The call throws or rejects with a `Refusal` if the body is too large, too
   * slow, malformed or incomplete, or if the incomplete bodies of all clients exceed their limit.
   */
  readBody(bytesMax: number): Uint8Array | Promise<Uint8Array>;
  /**
   * What the handler wants to know again about this head: its method, path, query and fields. If it is set before the
   * handler returns, it is there for other requests with exactly the same head, on any connection, for ten seconds at
   * most. Set it only for clients that may use the service, so that others cannot fill the memory for it.
   */
  remembered?: object | undefined;
}

export type AnswerHeaders = Readonly<Record<string, string>>;

interface AnswerOptions {
  /** True if this same object answers many requests, so that its encoded form is worth caching. */
  readonly isStanding?: boolean;
  /** True if the connection closes after this answer. */
  readonly closesConnection?: boolean;
}

export class Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** A byte array must not be changed later: it is not copied, and may be sent to many clients. */
  readonly body: string | Uint8Array | PieceBody | StreamBody | undefined;
  readonly isStanding: boolean;
  readonly closesConnection: boolean;

  constructor(
    status: number,
    headers: AnswerHeaders,
    body?: string | Uint8Array | PieceBody | StreamBody,
    { isStanding = false, closesConnection = false }: AnswerOptions = {},
  ) {
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.isStanding = isStanding;
    this.closesConnection = closesConnection;
  }

  /** A copy of the answer with more headers. The encoded form of the copy is not cached. */
  with(headers: AnswerHeaders): Answer {
    const { closesConnection } = this;
    return new Answer(this.status, { ...this.headers, ...headers }, this.body, { closesConnection });
  }
}

/** Memory that several bodies may share. */
export interface MemoryBlock {
  readonly byteLength: number;
  /**
   * True while the handler itself needs the block. Then a slow reader that still needs it costs no additional memory.
   */
  readonly isInUse?: boolean;
}

/** A piece of a body. `bytes` lies in the memory that `block` describes, and must not be changed later. */
export interface BodyPiece {
  readonly bytes: Uint8Array;
  readonly block: MemoryBlock;
}

/** A body in several pieces. Other bodies may have some of the same pieces. */
export class PieceBody {
  readonly pieces: readonly BodyPiece[];
  readonly byteLength: number;

  constructor(pieces: readonly BodyPiece[]) {
    this.pieces = pieces;
    this.byteLength = pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }
}

/** A body whose length is not known in advance. */
export interface StreamBody {
  /**
   * Called once: when the connection is ready for the first bytes, or when the connection is gone. If it is gone, the
   * sink ignores everything, and `cancel` is called at once.
   */
  open(sink: StreamSink): StreamSource;
}

export interface StreamSink {
  /** Call this once in `open` and then at most once for each `pull`. So at most one piece waits for a slow reader. */
  write(bytes: Uint8Array): void;
  /** Ends the stream, after these last bytes, if there are any. */
  end(last?: Uint8Array): void;
}

export interface StreamSource {
  /** Called when everything written so far has been sent. The source may now write again. */
  pull(): void;
  /** Called when nobody will read the rest of the stream. */
  cancel(): void;
}

export function isStream(body: Answer["body"]): body is StreamBody {
  return typeof body === "object" && "open" in body;
}

/** Releases the resources of a streamed body that will never be sent. */
export function cancelStream(body: StreamBody): void {
  body.open({ write() {}, end() {} }).cancel();
}
