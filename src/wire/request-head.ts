// The head of an HTTP/1.1 request (RFC 9112), read strictly: what the grammar does not allow is refused,
// and so is everything that two readers could take for different messages.

import { malformed } from "./refusal.ts";

export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly keepsConnection: boolean;
  /** False for HTTP/1.0, which knows no chunked bodies. */
  readonly takesChunks: boolean;
  /** Trailing bytes that belong to this request: so many, or in chunks that say how many. */
  readonly bodyLength: number | "chunked";
  readonly expectsContinue: boolean;
}

/** More fields than any client sends; each costs an entry in a table. */
const fieldsMax = 200;

const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const targetPattern = /^[\x21-\x7e\x80-\xff]+$/;
const requestLinePattern = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([^ ]+) HTTP\/([0-9])\.([0-9])$/;
// Everything but tabs among the control characters; a line end that is not CR LF is one as well.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const forbiddenInValue = /[\x00-\x08\x0a-\x1f\x7f]/;
const absoluteFormPattern = /^https?:\/\/([^/?#]*)([^#]*)$/i;
const hostPattern = /^(?:[0-9a-z._~!$&'()*+;=%-]+|\[[0-9a-f:.]+\])(?::[0-9]*)?$/i;

/** `text` is the head without the empty line that ends it, each byte as the character of its number. */
export function parseHead(text: string): RequestHead {
  const [requestLine = "", ...fieldLines] = text.split("\r\n");
  const [, method = "", target = "", major, minor] = requestLinePattern.exec(requestLine) ?? [];
  if (major === undefined)
    throw malformed("The request line is not METHOD, target and HTTP/1.1, with one space between");
  if (major !== "1") {
    throw malformed("This is not HTTP/1.1 nor HTTP/1.0; send one of these", "HttpVersionNotSupported");
  }
  const headers = parseFields(fieldLines);
  const isHttp10 = minor === "0";
  if (!isHttp10 || headers.has("host")) checkHost(headers.get("host"));
  const connection = headers.get("connection")?.toLowerCase() ?? "";
  return {
    method,
    ...parseTarget(method, target),
    headers,
    keepsConnection: !isHttp10 && !connection.split(",").some((option) => option.trim() === "close"),
    takesChunks: !isHttp10,
    bodyLength: bodyLengthOf(headers, isHttp10),
    expectsContinue: !isHttp10 && headers.get("expect")?.toLowerCase() === "100-continue",
  };
}

function parseFields(lines: readonly string[]): Map<string, string> {
  if (lines.length > fieldsMax) {
    throw malformed(`The request has more than ${fieldsMax} header fields`, "HeadersTooLarge");
  }
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0));
    if (!tokenPattern.test(name)) throw malformed("A header field is not a name, a colon and a value");
    if (forbiddenInValue.test(line)) throw malformed("A header field has a control character or a lone line end in it");
    const key = name.toLowerCase();
    const value = trimBlanks(line, colon + 1);
    const before = headers.get(key);
    if (before !== undefined && (key === "host" || key === "content-length")) {
      throw malformed(`The request has two ${name} headers`);
    }
    headers.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

/** Without the spaces and tabs at both ends; other white space is part of the value. */
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

/** RFC 9112, section 3.2: a request whose Host is none is no request. */
export function checkHost(host: string | undefined): void {
  if (host !== undefined && hostPattern.test(host)) return;
  throw malformed("The Host header is not one valid host name; send the host and port the request is meant for");
}

export function checkMethod(method: string): string {
  if (tokenPattern.test(method)) return method;
  throw malformed("The request's method is not a word");
}

export function parseTarget(method: string, target: string): { path: string; query: string } {
  if (!targetPattern.test(target)) throw malformed("The request's target has a character in it that no URL has");
  if (target.startsWith("/")) return splitQuery(target);
  // About the server as a whole: no route of ours.
  if (target === "*" && method === "OPTIONS") return { path: target, query: "" };
  const [, authority = "", rest = ""] = absoluteFormPattern.exec(target) ?? [];
  if (!hostPattern.test(authority)) throw malformed("The request's target is neither a path nor an http(s) URL");
  return splitQuery(rest.startsWith("/") ? rest : `/${rest}`);
}

function splitQuery(target: string): { path: string; query: string } {
  const mark = target.indexOf("?");
  return mark === -1 ? { path: target, query: "" } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

function bodyLengthOf(headers: ReadonlyMap<string, string>, isHttp10: boolean): number | "chunked" {
  const coding = headers.get("transfer-encoding");
  const length = headers.get("content-length");
  if (coding === undefined) return length === undefined ? 0 : parseLength(length);
  if (length !== undefined) throw malformed("The request has both Content-Length and Transfer-Encoding; send one");
  if (isHttp10 || coding.toLowerCase() !== "chunked") {
    throw malformed("The only Transfer-Encoding taken is chunked, and in HTTP/1.1 only");
  }
  return "chunked";
}

export function parseLength(text: string): number {
  const length = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(length)) throw malformed("The Content-Length is not a number of bytes");
  return length;
}
