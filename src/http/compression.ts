// Compresses answers for clients that accept gzip: the list, items, documents of changes, problem documents that contain
// an item, and the files of the site. The compressed form of a standing answer is kept as long as the answer itself.
// Why: docs/decisions/0058-compressed-lists.md

import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { Answer, type HeaderFields, isStream, PieceBody } from "../wire/message.ts";
import { withSuffix } from "./conditions.ts";

/** Compressing a shorter body would save too little. */
const bytesMin = 1_000;
/** Compressing a longer body would take too long: this one takes about two seconds. */
const bytesMax = 64 * 1024 ** 2;
/**
 * Bodies of this many bytes together, or one longer body, are compressed at the same time, in other threads. Meanwhile
 * others are sent as they are. Otherwise clients could keep all processors busy with requests that cost them nothing,
 * and so could a long list that changes often.
 */
const atOnceBytesMax = 1024 ** 2;

const compress = promisify(gzip);

export class Compression {
  /** How many bytes are being compressed. */
  #bytesUnderWay = 0;
  /** The compressed forms of standing answers, and promises of those that are being made. */
  readonly #kept = new WeakMap<Answer, Answer | Promise<Answer>>();

  /** Returns the answer compressed, if that is worth it and the client accepts it. */
  apply(headers: HeaderFields, answer: Answer): Answer | Promise<Answer> {
    if (answer.status === 304) return this.#notModified(headers, answer);
    if (!isWorthIt(answer)) return answer;
    const varying = varyingByEncoding(answer);
    return accepts(headers) ? (this.#kept.get(answer) ?? this.#compressed(varying)) : varying;
  }

  #compressed(answer: Answer): Answer | Promise<Answer> {
    const length = lengthOf(answer);
    if (this.#bytesUnderWay > 0 && this.#bytesUnderWay + length > atOnceBytesMax) return answer;
    this.#bytesUnderWay += length;
    const compressing = compress(contentOf(answer)).then((bytes) => {
      const compressed = compressedForm(answer, bytes);
      if (answer.isStanding) this.#kept.set(answer, compressed);
      return compressed;
    });
    if (answer.isStanding) this.#kept.set(answer, compressing);
    return compressing.finally(() => (this.#bytesUnderWay -= length));
  }

  /**
   * A 304 must have the same ETag as the answer that the client already has. If that answer was compressed, this is the
   * ETag with the suffix `-gzip`.
   */
  #notModified(headers: HeaderFields, answer: Answer): Answer | Promise<Answer> {
    const tag = withSuffix(answer.headers["ETag"] ?? "", "gzip");
    if (!headers.get("if-none-match")?.includes(tag) || !accepts(headers)) return answer;
    const known = this.#kept.get(answer);
    if (known) return known;
    const { isStanding } = answer;
    const tagged = new Answer(304, { ...answer.headers, ETag: tag }, undefined, { isStanding });
    if (isStanding) this.#kept.set(answer, tagged);
    return tagged;
  }
}

function isWorthIt(answer: Answer): boolean {
  const length = lengthOf(answer);
  return (answer.status < 300 || answer.status === 412) && length >= bytesMin && length <= bytesMax;
}

/** The length of the body, in bytes or characters. A stream has none. */
function lengthOf({ body }: Answer): number {
  if (body === undefined || isStream(body)) return 0;
  return body instanceof PieceBody ? body.byteLength : body.length;
}

function varyingByEncoding(answer: Answer): Answer {
  const { Vary } = answer.headers;
  if (Vary?.includes("Accept-Encoding")) return answer;
  return answer.with({ Vary: Vary === undefined ? "Accept-Encoding" : `${Vary}, Accept-Encoding` });
}

function contentOf({ body }: Answer): string | Uint8Array {
  if (body instanceof PieceBody) return Buffer.concat(body.pieces.map(({ bytes }) => bytes));
  return typeof body === "string" || body instanceof Uint8Array ? body : "";
}

function compressedForm({ status, headers, isStanding, closesConnection }: Answer, bytes: Uint8Array): Answer {
  const { ETag } = headers;
  // In an answer with status 200, the ETag belongs to the body, so a compressed body needs another ETag. In other
  // answers, the ETag names the state of the item (created, or current in a problem document) and must not change.
  const tag = status === 200 && ETag !== undefined ? { ETag: withSuffix(ETag, "gzip") } : {};
  const options = { isStanding, closesConnection };
  return new Answer(status, { ...headers, "Content-Encoding": "gzip", ...tag }, bytes, options);
}

/**
 * True if the client accepts gzip, and does not prefer an uncompressed answer (RFC 9110, section 12.5.3). A page of
 * another site never gets a compressed answer. Such a page may cause requests, and may be able to measure the lengths of
 * the answers. If it can also put text of its own into an answer, the length of the compressed answer could reveal the
 * rest (BREACH).
 */
function accepts(headers: HeaderFields): boolean {
  const header = headers.get("accept-encoding");
  if (header === undefined || headers.get("sec-fetch-site") === "cross-site") return false;
  const quality = qualityOfGzip(header) ?? qualityOfOthers(header) ?? 0;
  return quality > 0 && quality >= (qualityOfIdentity(header) ?? 0);
}

const qualityOfGzip = qualityOf("gzip");
const qualityOfOthers = qualityOf("\\*");
const qualityOfIdentity = qualityOf("identity");

/** Finds the quality of a coding in `Accept-Encoding`. Undefined if the header does not name the coding. */
function qualityOf(coding: string): (header: string) => number | undefined {
  const pattern = new RegExp(`(?:^|,)[ \\t]*${coding}[ \\t]*(?:;[ \\t]*q=([^ \\t,;]*)[ \\t]*)?(?:,|$)`, "i");
  return (header) => {
    const found = pattern.exec(header);
    return found ? Number(found[1] ?? 1) : undefined;
  };
}
