// Reading a request's body: within its size, within its time, as JSON in UTF-8.

import { Problem } from "../problem.ts";
import { Deadlines } from "./deadlines.ts";

export interface BodyLimits {
  readonly bodyBytesMax: number;
  readonly requestTimeoutMs: number;
}

// Many clients send a body to its end before they look for an answer, and see only a broken connection
// if it is closed under them. The runtime lets the rest of a refused body of known length pass by
// unkept; up to this length we let it.
const swallowedBytesMax = 64 * 1024 ** 2;

const deadlines = new Deadlines();

/** The whole body. A body over the limit is cut off while it arrives, a dripping one when its time is up. */
export function readBody(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const declaredLength = request.headers.get("content-length");
  if (declaredLength !== null && Number(declaredLength) > limits.bodyBytesMax) {
    throw bodyTooLarge(limits, Number(declaredLength) > swallowedBytesMax);
  }
  // Where a length is declared, `request.body` is left alone: asking for it makes a stream of the body,
  // which costs more than all the rest of reading it.
  if (declaredLength !== null) return inTime(request, request.bytes(), limits);
  if (request.body === null) return Promise.resolve(new Uint8Array());
  return inTime(request, readChunks(request.body, limits), limits);
}

function inTime(request: Request, reading: Promise<Uint8Array>, limits: BodyLimits): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const deadline = deadlines.add(limits.requestTimeoutMs, () => reject(requestTimeout(limits)));
    reading.then(
      (bytes) => {
        deadline.over = true;
        resolve(bytes);
      },
      (error) => {
        deadline.over = true;
        // Nobody is left to read this answer, but it tells the caller of this function a mistake from a defect.
        reject(
          request.signal.aborted
            ? new Problem("InvalidRequest", "The connection was closed before the body was complete.")
            : error,
        );
      },
    );
  });
}

async function readChunks(stream: ReadableStream<Uint8Array>, limits: BodyLimits): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.byteLength;
    if (length > limits.bodyBytesMax) throw bodyTooLarge(limits, true);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

// Fatal: a replacement character in place of a bad byte would be a rewritten item. A leading
// byte-order mark is dropped.
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The body as text, if it is what its headers must say: JSON in UTF-8. */
export function decodeBody(bytes: Uint8Array, headers: Headers): string {
  const coding = headers.get("content-encoding");
  if (coding !== null && coding.toLowerCase() !== "identity") {
    throw new Problem("UnsupportedMediaType", `The body has Content-Encoding ${coding}: send it uncompressed.`);
  }
  try {
    return utf8.decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Problem("InvalidJson", "The body is not valid UTF-8: send JSON encoded in UTF-8.");
  }
}

const token = "[!#$%&'*+.^_`|~0-9a-z-]+";
const quoted = '"(?:[^"\\\\]|\\\\.)*"';
const parameterPattern = new RegExp(`;[ \\t]*(?:(${token})=(${token}|${quoted}))?[ \\t]*`, "giy");

/** Refuses every media type but JSON in UTF-8. */
export function checkMediaType(contentType: string | null): void {
  if (contentType === "application/json" || contentType === "application/json; charset=utf-8") return;
  if (contentType !== null && isJsonInUtf8(contentType)) return;
  const sent = contentType === null ? "The request has no Content-Type" : `The request has Content-Type ${contentType}`;
  throw new Problem("UnsupportedMediaType", `${sent}: send the item as application/json, encoded in UTF-8.`);
}

/** RFC 9110, section 8.3.1: a type, then parameters whose values may be quoted. */
function isJsonInUtf8(contentType: string): boolean {
  const type = /^[ \t]*application\/json[ \t]*/i.exec(contentType)?.[0];
  if (type === undefined) return false;
  const rest = contentType.slice(type.length);
  const parameters = [...rest.matchAll(parameterPattern)];
  if (parameters.map(([text]) => text).join("") !== rest) return false;
  return parameters.every(([, name, value]) => name?.toLowerCase() !== "charset" || /^"?utf-8"?$/i.test(value ?? ""));
}

function bodyTooLarge({ bodyBytesMax }: BodyLimits, endsConnection: boolean): Problem {
  return new Problem("BodyTooLarge", `The body is larger than ${bodyBytesMax} bytes, the most this instance takes.`, {
    endsConnection,
  });
}

function requestTimeout({ requestTimeoutMs }: BodyLimits): Problem {
  const detail = `The body did not arrive within ${requestTimeoutMs / 1000} s; nothing was changed. Send the request again.`;
  return new Problem("RequestTimeout", detail, { endsConnection: true });
}
