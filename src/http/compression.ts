// Compresses answers for clients that accept gzip: items, documents of changes, and problem documents that contain an
// item. Lists are compressed elsewhere, because they are kept ready in compressed form (see collection/list-gzip.ts).

import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { Answer, type HeaderFields } from "../wire/message.ts";
import { acceptsGzip } from "./accept-encoding.ts";
import { gzipTag } from "./conditions.ts";

/** Compressing a shorter answer would save too little. */
export const gzipBytesMin = 1_000;
/**
 * At most this many answers are compressed at the same time. Others are sent uncompressed. Otherwise a client could
 * keep all processors busy with requests that cost it nothing.
 */
const atOnceMax = 2;

const compress = promisify(gzip);

export class Compression {
  #underWay = 0;
  /** The compressed forms of documents. They are cached, because another client may ask for the same document. */
  readonly #known = new WeakMap<Uint8Array, Promise<Buffer>>();

  /**
   * True if a request with these headers may get a compressed answer. A page of another site never gets one. Such a
   * page may cause requests, and may be able to measure the lengths of the answers. If it can also put text of its own
   * into an answer, the length of the compressed answer could reveal the rest (BREACH).
   */
  serves(headers: HeaderFields): boolean {
    return acceptsGzip(headers.get("accept-encoding")) && headers.get("sec-fetch-site") !== "cross-site";
  }

  /**
   * Returns the answer compressed, if that is worth it and the client accepts it. Otherwise the body stays as it is.
   */
  apply(headers: HeaderFields, answer: Answer): Answer | Promise<Answer> {
    const { status, body } = answer;
    if (status === 304) return this.#notModified(headers, answer);
    if (!(typeof body === "string" || body instanceof Uint8Array) || body.length < gzipBytesMin) return answer;
    if (!hasItems(answer) || answer.headers["Content-Encoding"] !== undefined) return answer;
    const vary = answer.headers["Vary"];
    const varied = answer.with({ Vary: vary === undefined ? "Accept-Encoding" : `${vary}, Accept-Encoding` });
    const compressed = this.serves(headers) ? this.#compressed(body) : undefined;
    if (!compressed) return varied;
    return compressed.then((bytes) => {
      const { ETag } = answer.headers;
      // In an answer with status 200, the ETag belongs to the body, so a compressed body needs another ETag. In other
      // answers, the ETag names the state of the item (created, or current in a problem document) and must not change.
      const tag = status === 200 && ETag !== undefined ? { ETag: gzipTag(ETag) } : {};
      const { closesConnection } = answer;
      return new Answer(status, { ...varied.headers, "Content-Encoding": "gzip", ...tag }, bytes, { closesConnection });
    });
  }

  /** Compresses a body, or returns a cached result. Undefined if too many answers are already being compressed. */
  #compressed(body: string | Uint8Array): Promise<Buffer> | undefined {
    const known = typeof body === "string" ? undefined : this.#known.get(body);
    if (known || this.#underWay >= atOnceMax) return known;
    this.#underWay++;
    const compressed = compress(body).finally(() => this.#underWay--);
    if (typeof body !== "string") this.#known.set(body, compressed);
    return compressed;
  }

  /**
   * A 304 must have the same ETag as the answer that the client already has. If that answer was compressed, this is the
   * ETag with the suffix `-gzip`.
   */
  #notModified(headers: HeaderFields, answer: Answer): Answer {
    const { ETag } = answer.headers;
    if (ETag === undefined || answer.isStanding) return answer;
    const tag = gzipTag(ETag);
    const hasCompressed = headers.get("if-none-match")?.includes(tag) && this.serves(headers);
    return hasCompressed ? answer.with({ ETag: tag }) : answer;
  }
}

function hasItems({ status, headers }: Answer): boolean {
  const type = headers["Content-Type"] ?? "";
  return status === 412 || (status < 300 && type.startsWith("application/json"));
}
