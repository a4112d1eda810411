// A request and an answer as the app sees them, whichever protocol carried them.

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
  /** Where it came from. */
  readonly address: string;
  /** True if it is sure to have begun to arrive before the turn of the event loop in which it was read. */
  readonly beganBeforeTurn: boolean;
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

  constructor(
    status: number,
    headers: AnswerHeaders,
    body?: string | Uint8Array | StreamBody,
    { isStanding = false }: { isStanding?: boolean } = {},
  ) {
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.isStanding = isStanding;
  }

  with(headers: AnswerHeaders): Answer {
    return new Answer(this.status, { ...this.headers, ...headers }, this.body);
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
