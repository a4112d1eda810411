// Parses the head of an HTTP/1.1 request (RFC 9112), strictly. It refuses whatever breaks the grammar, and whatever two
// parsers could read as different messages. It runs in time linear in the head's length.

import { closingRefusal } from "./refusal.ts";

/** The header fields of a request. Names are in lower case. */
export type Fields = ReadonlyMap<string, string>;

export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Fields;
  readonly keepsConnection: boolean;
  /** False for HTTP/1.0, which has no chunked bodies. */
  readonly takesChunks: boolean;
  /** The number of bytes in the body, or "chunked" if the body itself states the length of each part. */
  readonly bodyLength: number | "chunked";
  readonly expectsContinue: boolean;
}

/**
 * A request with more header fields than this is refused, because each field costs memory. No real client sends so
 * many.
 */
const fieldsMax = 200;

const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const targetPattern = /^[\x21-\x7e]+$/;
const requestLinePattern = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([^ ]+) HTTP\/([0-9])\.([0-9])$/;
// Every ASCII control character except the tab. This also catches a lone CR or LF.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them.
const forbiddenInValue = /[\x00-\x08\x0a-\x1f\x7f]/;
const schemePattern = /^https?:\/\//i;
// In these fields a tab is refused. Parsers disagree on whether a tab before or after the value is part of the value.
const framingFields: ReadonlySet<string> = new Set(["content-length", "transfer-encoding"]);
const hostPattern = /^(?:[0-9a-z._~!$&'()*+;=%-]+|\[[0-9a-f:.]+\])(?::[0-9]*)?$/i;

/**
 * `text` is the head as Latin-1, without the empty line that ends it. Throws a `Refusal` if the head is malformed.
 * `readFields` gets the lines after the first. It may know the result already.
 */
export function parseHead(text: string, readFields = parseFields): RequestHead {
  const lineEnd = text.indexOf("\r\n");
  const requestLine = lineEnd === -1 ? text : text.slice(0, lineEnd);
  const fieldsText = lineEnd === -1 ? "" : text.slice(lineEnd + 2);
  const [, method = "", target = "", major, minor] = requestLinePattern.exec(requestLine) ?? [];
  if (major === undefined)
    throw closingRefusal("The request line must be METHOD, target and HTTP/1.1, with one space between them");
  // RFC 9112 defines no HTTP/1.2, and parsers disagree on how to read such a request. So it is refused.
  if (major !== "1" || (minor !== "1" && minor !== "0")) {
    throw closingRefusal("The HTTP version must be HTTP/1.1 or HTTP/1.0", "HttpVersionNotSupported");
  }
  const headers = readFields(fieldsText);
  const isHttp10 = minor === "0";
  const isConnect = method === "CONNECT";
  if (!isHttp10 || headers.has("host")) checkHost(headers.get("host"));
  const bodyLength = bodyLengthOf(headers, isHttp10);
  return {
    method,
    ...parseTarget(method, target),
    headers,
    // After CONNECT the client may send another protocol. We support none, so we close and do not read it.
    keepsConnection: !isHttp10 && !isConnect && !saysClose(headers),
    takesChunks: !isHttp10,
    bodyLength: isConnect ? 0 : bodyLength,
    expectsContinue: !isHttp10 && headers.get("expect")?.toLowerCase() === "100-continue",
  };
}

/**
 * Proxy-Connection is not a standard field. But some parsers obey its `close` and ignore everything after the request,
 * so we obey it too.
 */
function saysClose(headers: Fields): boolean {
  const hasClose = (options: string | undefined) =>
    options?.split(",").some((option) => option.trim().toLowerCase() === "close") ?? false;
  return hasClose(headers.get("connection")) || hasClose(headers.get("proxy-connection"));
}

export function parseFields(text: string): Fields {
  const lines = text === "" ? [] : text.split("\r\n");
  if (lines.length > fieldsMax) {
    throw closingRefusal(`The request has more than ${fieldsMax} headers`, "HeadersTooLarge");
  }
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0));
    if (!tokenPattern.test(name)) throw closingRefusal("A header must be a name, a colon and a value");
    if (forbiddenInValue.test(line))
      throw closingRefusal("A header contains a control character or an incomplete line ending");
    const key = name.toLowerCase();
    const value = trimBlanks(line, colon + 1);
    if (framingFields.has(key) && line.includes("\t")) throw closingRefusal(`The ${name} header contains a tab`);
    const before = headers.get(key);
    if (before !== undefined && (key === "host" || key === "content-length")) {
      throw closingRefusal(`The request has two ${name} headers`);
    }
    headers.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

/** Returns the value without the spaces and tabs at its ends. Any other white space is part of the value. */
function trimBlanks(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (isBlank(line.charCodeAt(start))) start++;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** RFC 9112, section 3.2: a request without a Host, or with an invalid one, must be refused. */
function checkHost(host: string | undefined): void {
  if (host !== undefined && hostPattern.test(host)) return;
  throw closingRefusal("The Host header must be the host, and the port if there is one, that the request is meant for");
}

function parseTarget(method: string, target: string): { path: string; query: string } {
  if (!targetPattern.test(target))
    throw closingRefusal("The request's target contains a character that is not allowed in a URL");
  if (target.startsWith("/")) return splitQuery(target);
  // `OPTIONS *` asks about the server as a whole.
  if (target === "*" && method === "OPTIONS") return { path: target, query: "" };
  const scheme = schemePattern.exec(target)?.[0] ?? "";
  const afterScheme = target.slice(scheme.length);
  const hostEnd = afterScheme.search(/[/?]/);
  const host = hostEnd === -1 ? afterScheme : afterScheme.slice(0, hostEnd);
  if (scheme === "" || target.includes("#") || !hostPattern.test(host)) {
    throw closingRefusal("The request's target must be a path or an http(s) URL");
  }
  const rest = afterScheme.slice(host.length);
  return splitQuery(rest.startsWith("/") ? rest : `/${rest}`);
}

function splitQuery(target: string): { path: string; query: string } {
  const mark = target.indexOf("?");
  return mark === -1 ? { path: target, query: "" } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

function bodyLengthOf(headers: Fields, isHttp10: boolean): number | "chunked" {
  const coding = headers.get("transfer-encoding");
  const length = headers.get("content-length");
  if (coding === undefined) return length === undefined ? 0 : parseLength(length);
  if (length !== undefined)
    throw closingRefusal("The request has both Content-Length and Transfer-Encoding; send only one of them");
  if (isHttp10 || coding.toLowerCase() !== "chunked") {
    throw closingRefusal("The only supported Transfer-Encoding is chunked, and only in HTTP/1.1");
  }
  return "chunked";
}

function parseLength(text: string): number {
  const length = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(length)) throw closingRefusal("The Content-Length is not a number of bytes");
  return length;
}
