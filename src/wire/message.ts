// A request and an answer as the handler sees them, whichever protocol carried them.

import type { Refusal } from "./refusal.ts";
import type { Turn } from "./turn.ts";

/** What answers the requests of a server. */
export interface Handler {
  /** Must not throw, and must not reject. */
  handle(request: HttpRequest): Answer | Promise<Answer>;
  /** Words the answer to a refused request. There is no request if the input was malformed. */
  refuse(refusal: Refusal, request?: HttpRequest): Answer;
}

/** Header fields by their names in lower case. A field that came twice is one, joined by a comma. */
export interface HeaderFields {
  get(name: string): string | undefined;
}

export interface HttpRequest {
  readonly method: string;
  /** As it was sent, percent-encoding and all. */
  readonly path: string;
  /** What follows the question mark. */
  readonly query: string;
  readonly headers: HeaderFields;
  /** The address at the other end of the connection; behind a proxy, the proxy's. */
  readonly peer: string;
  /** Whether it came over TLS. */
  readonly isSecure: boolean;
  /** Proves that the request was sent before this turn of the event loop began; undefined if nothing proves that. */
  readonly turn: Turn | undefined;
  /** The whole body. Throws or rejects with a `Refusal` if the body is too large, too slow or malformed. Call it once. */
  readBody(bytesMax: number): Uint8Array | Promise<Uint8Array>;
}

export type AnswerHeaders = Readonly<Record<string, string>>;

interface AnswerOptions {
  /** This very answer is given to many, so it is worth keeping in the form in which it was sent. */
  readonly isStanding?: boolean;
  /** The connection closes after this answer. */
  readonly closesConnection?: boolean;
}

export class Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** Bytes are shared by everybody they are sent to, so they must not change. */
  readonly body: string | Uint8Array | StreamBody | undefined;
  readonly isStanding: boolean;
  readonly closesConnection: boolean;

  constructor(
    status: number,
    headers: AnswerHeaders,
    body?: string | Uint8Array | StreamBody,
    { isStanding = false, closesConnection = false }: AnswerOptions = {},
  ) {
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.isStanding = isStanding;
    this.closesConnection = closesConnection;
  }

  /** The same answer with more headers. */
  with(headers: AnswerHeaders): Answer {
    const { closesConnection } = this;
    return new Answer(this.status, { ...this.headers, ...headers }, this.body, { closesConnection });
  }
}

/** A body whose end is not known beforehand. */
export interface StreamBody {
  /** Called once, when the connection can take the first bytes. */
  open(sink: StreamSink): StreamSource;
}

export interface StreamSink {
  /** Call it at most once for each `pull`, so that no more than that waits for a slow reader. */
  write(bytes: Uint8Array): void;
  end(): void;
}

export interface StreamSource {
  /** Everything written so far has left; more may come. */
  pull(): void;
  /** Nobody is left to read the stream. */
  cancel(): void;
}

export function isStream(body: Answer["body"]): body is StreamBody {
  return body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array);
}

/** Releases what a stream holds if nobody is left to read it. */
export function cancelStream(body: StreamBody): void {
  body.open({ write() {}, end() {} }).cancel();
}
