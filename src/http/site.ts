// Serves the files beside the API: the page and its assets. They need no credentials and are compressed if the browser
// accepts that. A file whose name contains a hash of its content may be cached for a year.

import { Answer, type HttpRequest } from "../wire/message.ts";
import { accepts } from "./accept-encoding.ts";
import { ifNoneMatchHits } from "./conditions.ts";
import { nosniff } from "./headers.ts";

export interface SiteFile {
  readonly mediaType: string;
  readonly plain: Uint8Array<ArrayBuffer>;
  readonly gzip: Uint8Array<ArrayBuffer> | undefined;
  readonly brotli: Uint8Array<ArrayBuffer> | undefined;
  /** A hash of its content, in quotes. */
  readonly etag: string;
  /** True if the file's name changes whenever its content does. */
  readonly immutable: boolean;
}

export interface Site {
  /** Finds the file at a path, if there is one. Paths begin with a slash; the page itself is "/". */
  find(path: string): Promise<SiteFile | undefined>;
}

/** The methods a file offers. */
export const siteMethods: readonly string[] = ["GET"];

// The page may load files only from its own origin. It may not run inline scripts, and no page may show it in a frame.
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

export function siteAnswer(request: HttpRequest, file: SiteFile): Answer {
  const headers: Record<string, string> = {
    ETag: file.etag,
    "Cache-Control": file.immutable ? "public, max-age=31536000, immutable" : "no-cache",
    Vary: "Accept-Encoding",
  };
  if (ifNoneMatchHits(request.headers, file.etag)) return new Answer(304, headers);
  const { body, encoding } = encoded(file, request.headers.get("accept-encoding"));
  if (encoding !== undefined) headers["Content-Encoding"] = encoding;
  if (file.mediaType.startsWith("text/html")) {
    headers["Content-Security-Policy"] = pagePolicy;
    headers["Referrer-Policy"] = "no-referrer";
  }
  return new Answer(200, { "Content-Type": file.mediaType, ...nosniff, ...headers }, body);
}

function encoded(
  { plain, gzip, brotli }: SiteFile,
  accepted: string | undefined,
): { body: Uint8Array<ArrayBuffer>; encoding?: string } {
  if (brotli && accepts(accepted, "br")) return { body: brotli, encoding: "br" };
  if (gzip && accepts(accepted, "gzip")) return { body: gzip, encoding: "gzip" };
  return { body: plain };
}
