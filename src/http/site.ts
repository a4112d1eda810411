// Serves the files beside the API: the page and its assets, and the description of the API. They need no credentials.
// The answers for each file are made once, when it is first requested. A file whose name contains a hash of its content
// may be cached for a year.

import { createHash } from "node:crypto";
import { Answer, type HttpRequest } from "../wire/message.ts";
import { checkState, ifNoneMatchHits } from "./conditions.ts";
import { forOneUser, nosniff } from "./headers.ts";

export interface SiteFile {
  readonly mediaType: string;
  /** Must not change. The answers with this object are kept. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** True if the file's name changes whenever its content changes. */
  readonly immutable: boolean;
  /** True if the file is for one user alone. */
  readonly isPrivate?: boolean;
}

export interface Site {
  /**
   * Finds the file that a request asks for, if there is one. If there is a `pageDepth`, the request asks for the page of
   * a list, which is this many folders below the service's own address.
   */
  find(request: HttpRequest, pageDepth?: number): Promise<SiteFile | undefined>;
}

interface FileAnswers {
  /** A hash of the content, in quotes. */
  readonly etag: string;
  readonly whole: Answer;
  readonly notModified: Answer;
}

const knownAnswers = new WeakMap<Uint8Array, FileAnswers>();

/** The methods a file offers. */
export const siteMethods: readonly string[] = ["GET"];

// The page can load files only from its own origin. It cannot run inline scripts, and no page can show it in a frame.
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const pageHeaders = {
  "Content-Security-Policy": pagePolicy,
  "Referrer-Policy": "no-referrer",
  // By this header, the page's service worker knows that the page is ours.
  "Todoitems-Page": "1",
};

export function siteAnswer({ headers }: HttpRequest, file: SiteFile): Answer {
  const answers = knownAnswers.get(file.bytes) ?? makeAnswers(file);
  knownAnswers.set(file.bytes, answers);
  checkState(headers, answers.etag);
  return ifNoneMatchHits(headers, answers.etag) ? answers.notModified : answers.whole;
}

function makeAnswers({ bytes, mediaType, immutable, isPrivate = false }: SiteFile): FileAnswers {
  const etag = `"${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}"`;
  const cacheControl = immutable ? "public, max-age=31536000, immutable" : "no-cache";
  const common = { ETag: etag, "Cache-Control": cacheControl, Vary: "Accept-Encoding" };
  const caching = isPrivate ? forOneUser(common) : common;
  const isPage = mediaType.startsWith("text/html");
  const policies = isPage ? pageHeaders : {};
  const headers = { "Content-Type": mediaType, ...nosniff, ...caching, ...policies };
  return {
    etag,
    whole: new Answer(200, headers, bytes, { isStanding: true }),
    notModified: new Answer(304, caching, undefined, { isStanding: true }),
  };
}
