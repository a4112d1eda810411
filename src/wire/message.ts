// A request and an answer as the handler sees them, whichever protocol carried them.

import type { Turn } from "./turn.ts";

/** Header fields by their names in lower case. A field that came twice is one, joined by a comma. */
export interface HeaderFields {
  get(name: string): string | undefined;
}

export interface HttpRequest {
  readonly method: string;
  /** As it was sent, percent-encoding and all. */
  readonly path: string;
  /** What stands behind the question mark. */
  readonly query: string;
  readonly headers: HeaderFields;
  /** The address at the other end of the connection; behind a proxy, the proxy's. */
  readonly peer: string;
  /** Whether it came over TLS. */
  readonly isSecure: boolean;
  /** Proves that the request was sent before this turn of the event loop began; undefined if nothing proves that. */
  readonly turn: Turn | undefined;
  /** The whole body. A body over the limit is a problem at once, one that comes too slowly when its time is up. */
  readBody(bytesMax: number): Uint8Array | Promise<Uint8Array>;
}

export type AnswerHeaders = Readonly<Record<string, string>>;

export class Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** Bytes are shared by everybody they are sent to, so they must not change. */
  readonly body: string | Uint8Array | StreamBody | undefined;
  /** Whether this very answer is given to many, so that it is worth keeping as it was sent. */
  readonly isStanding: boolean;
  /** Whether the connection closes after it. */
  readonly closesConnection: boolean;

  constructor(
    status: number,
    headers: AnswerHeaders,
    body?: string | Uint8Array | StreamBody,
    { isStanding = false, closesConnection = false }: { isStanding?: boolean; closesConnection?: boolean } = {},
  ) {
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.isStanding = isStanding;
    this.closesConnection = closesConnection;
  }

  with(headers: AnswerHeaders): Answer {
    const { closesConnection } = this;
    return new Answer(this.status, { ...this.headers, ...headers }, this.body, { closesConnection });
  }
}

/** A body without an end known beforehand. */
export interface StreamBody {
  /** Called once, when the connection can take the first bytes. */
  open(sink: StreamSink): StreamSource;
}

export interface StreamSink {
  /** To be called once for each `pull` at most, so that no more waits for a slow reader than that. */
  write(bytes: Uint8Array): void;
  end(): void;
}

export interface StreamSource {
  /** All that was written has left; more may come. */
  pull(): void;
  /** Nobody is left to read it. */
  cancel(): void;
}

export function isStream(body: Answer["body"]): body is StreamBody {
  return body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array);
}

/** Where a stream goes that nobody is left to read. */
export const deaf = { write() {}, end() {} };
