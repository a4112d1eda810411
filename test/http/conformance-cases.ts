// Raw HTTP/1.1 requests, each with the status it must get and whether the connection then stays open or is closed. The
// cases come from RFC 9110 and RFC 9112.

import { RawConnection } from "./raw-connection.ts";

export interface ConformanceCase {
  readonly title: string;
  readonly request: string;
  readonly outcome: string;
}

export const path = "/api/todoitems/";
export const get = (target = path, ...fields: string[]) =>
  [`GET ${target} HTTP/1.1`, "Host: a", ...fields, "", ""].join("\r\n");
export const line = (requestLine: string, ...fields: string[]) =>
  [requestLine, "Host: a", ...fields, "", ""].join("\r\n");
export const post = (fields: readonly string[], body = "{}", version = "1.1") =>
  [`POST ${path} HTTP/${version}`, "Host: a", "Content-Type: application/json", ...fields, "", body].join("\r\n");
export const chunked = (body: string) => post(["Transfer-Encoding: chunked"], body);
export const wellChunked = "2\r\n{}\r\n0\r\n\r\n";

export const conformanceGroups: Readonly<Record<string, readonly ConformanceCase[]>> = {
  "the request line": [
    { title: "an ordinary request", request: get(), outcome: "200 open" },
    {
      title: "a lower-case method",
      request: line(`get ${path} HTTP/1.1`),
      outcome: "405 open",
    },
    {
      title: "an unknown method",
      request: line(`FOO ${path} HTTP/1.1`),
      outcome: "405 open",
    },
    {
      title: "a method of 5,000 letters",
      request: line(`${"A".repeat(5_000)} ${path} HTTP/1.1`),
      outcome: "405 open",
    },
    { title: "TRACE", request: line(`TRACE ${path} HTTP/1.1`, "Max-Forwards: 0"), outcome: "405 open" },
    { title: "HTTP/1.0", request: line(`GET ${path} HTTP/1.0`), outcome: "200 closed" },
    {
      title: "HTTP/1.0 with Connection: keep-alive",
      request: line(`GET ${path} HTTP/1.0`, "Connection: keep-alive"),
      outcome: "200 closed",
    },
    {
      title: "HTTP/1.0 without Host",
      request: `GET ${path} HTTP/1.0\r\n\r\n`,
      outcome: "200 closed",
    },
    { title: "HTTP/0.9", request: `GET ${path}\r\n\r\n`, outcome: "400 closed" },
    {
      title: "HTTP/1.2",
      request: line(`GET ${path} HTTP/1.2`),
      outcome: "505 closed",
    },
    { title: "HTTP/1.9", request: line(`GET ${path} HTTP/1.9`), outcome: "505 closed" },
    {
      title: "CONNECT, after which no request may follow",
      request: line(`CONNECT ${path} HTTP/1.1`),
      outcome: "405 closed",
    },
    {
      title: "CONNECT with a length, since it has no body",
      request: `${line(`CONNECT ${path} HTTP/1.1`, "Content-Length: 2")}{}`,
      outcome: "405 closed",
    },
    { title: "HTTP/2.0 in an HTTP/1.1 message", request: line(`GET ${path} HTTP/2.0`), outcome: "505 closed" },
    { title: "a version in lower case", request: line(`GET ${path} http/1.1`), outcome: "400 closed" },
    { title: "two spaces after the method", request: line(`GET  ${path} HTTP/1.1`), outcome: "400 closed" },
    { title: "tabs between the parts", request: line(`GET\t${path}\tHTTP/1.1`), outcome: "400 closed" },
    { title: "a space in the target", request: line("GET /api/ todoitems HTTP/1.1"), outcome: "400 closed" },
    {
      title: "an empty line before the request",
      request: `\r\n${get()}`,
      outcome: "200 open",
    },
    { title: "many empty lines before the request", request: `${"\r\n".repeat(50)}${get()}`, outcome: "200 open" },
    {
      title: "a TLS handshake on the clear-text port",
      request: "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
      outcome: "400 closed",
    },
    { title: "the HTTP/2 preface", request: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", outcome: "505 closed" },
  ],
  "the target": [
    { title: "in absolute form", request: get(`http://a${path}`), outcome: "200 open" },
    { title: "in absolute form, without a path", request: get("http://a"), outcome: "404 open" },
    { title: "in absolute form, with an invalid host", request: get("http://a b/"), outcome: "400 closed" },
    {
      title: "in absolute form, with another scheme than http(s)",
      request: get(`ftp://a${path}`),
      outcome: "400 closed",
    },
    { title: "a host and port, as in CONNECT", request: line("CONNECT a:80 HTTP/1.1"), outcome: "400 closed" },
    { title: "with dot segments, which are not resolved", request: get("/api/x/../todoitems"), outcome: "404 open" },
    { title: "with two slashes", request: get("/api//todoitems"), outcome: "404 open" },
    { title: "in absolute form, with another host", request: get(`http://b${path}`), outcome: "200 open" },
    { title: "in absolute form, with the other scheme", request: get(`https://a${path}`), outcome: "200 open" },
    {
      title: "in asterisk form",
      request: line("OPTIONS * HTTP/1.1"),
      outcome: "404 open",
    },
    { title: "in asterisk form, with GET", request: get("*"), outcome: "400 closed" },
    { title: "without its slash", request: get("api/todoitems"), outcome: "400 closed" },
    { title: "with a NUL", request: get(`${path}\0`), outcome: "400 closed" },
    { title: "with a percent-encoded NUL", request: get(`${path}%00`), outcome: "400 open" },
    {
      title: "with a percent-encoded slash between its segments",
      request: get("/api%2Ftodoitems"),
      outcome: "404 open",
    },
    { title: "with a percent-encoded slash as its ID", request: get(`${path}%2f`), outcome: "400 open" },
    { title: "with a broken percent-encoding", request: get(`${path}%zz`), outcome: "400 open" },
    { title: "with a byte outside ASCII", request: get(`${path}\xff`), outcome: "400 closed" },
    { title: "with a byte outside ASCII in its query", request: get(`${path}?\xff`), outcome: "400 closed" },
    { title: "in absolute form, with a fragment", request: get(`http://a${path}#b`), outcome: "400 closed" },
    {
      title: "in absolute form, 16,000 characters long, with a fragment",
      request: get(`http://${"a".repeat(16_000)}#`),
      outcome: "400 closed",
    },
    { title: "of 8,000 characters", request: get(`${path}?${"a".repeat(8_000)}`), outcome: "200 open" },
    {
      title: "of 20,000 characters",
      request: get(`${path}${"a".repeat(20_000)}`),
      outcome: "414 closed",
    },
  ],
  "the Host field": [
    { title: "missing", request: `GET ${path} HTTP/1.1\r\n\r\n`, outcome: "400 closed" },
    { title: "empty", request: `GET ${path} HTTP/1.1\r\nHost: \r\n\r\n`, outcome: "400 closed" },
    { title: "twice, with different values", request: get(path, "Host: b"), outcome: "400 closed" },
    { title: "twice, with the same value", request: get(path, "Host: a"), outcome: "400 closed" },
    { title: "with a space", request: `GET ${path} HTTP/1.1\r\nHost: a b\r\n\r\n`, outcome: "400 closed" },
    { title: "with user information", request: `GET ${path} HTTP/1.1\r\nHost: u@a\r\n\r\n`, outcome: "400 closed" },
    { title: "with a path", request: `GET ${path} HTTP/1.1\r\nHost: a/b\r\n\r\n`, outcome: "400 closed" },
    { title: "with an IPv6 address", request: `GET ${path} HTTP/1.1\r\nHost: [::1]:80\r\n\r\n`, outcome: "200 open" },
  ],
  fields: [
    { title: "a space before the colon", request: get(path, "X-A : b"), outcome: "400 closed" },
    { title: "a space in the name", request: get(path, "X A: b"), outcome: "400 closed" },
    { title: "no colon", request: get(path, "XA"), outcome: "400 closed" },
    { title: "no name", request: get(path, ": b"), outcome: "400 closed" },
    { title: "a folded line", request: get(path, "X-A: b", " c"), outcome: "400 closed" },
    {
      title: "a folded first line",
      request: `GET ${path} HTTP/1.1\r\n Host: a\r\nHost: a\r\n\r\n`,
      outcome: "400 closed",
    },
    { title: "lines that end in LF only", request: `GET ${path} HTTP/1.1\nHost: a\n\n`, outcome: "400 closed" },
    {
      title: "one line that ends in LF only",
      request: `GET ${path} HTTP/1.1\r\nHost: a\nX: b\r\n\r\n`,
      outcome: "400 closed",
    },
    { title: "a CR in a value", request: get(path, "X: b\rc"), outcome: "400 closed" },
    { title: "a NUL in a value", request: get(path, "X: b\0c"), outcome: "400 closed" },
    { title: "a control character in a value", request: get(path, "X: b\x01c"), outcome: "400 closed" },
    { title: "a byte outside ASCII in a value", request: get(path, "X: caf\xe9"), outcome: "200 open" },
    { title: "a value of 20,000 characters", request: get(path, `X: ${"a".repeat(20_000)}`), outcome: "431 closed" },
    {
      title: "90 fields",
      request: get(path, ...Array.from({ length: 90 }, (_, index) => `X${index}: y`)),
      outcome: "200 open",
    },
    {
      title: "300 fields",
      request: get(path, ...Array.from({ length: 300 }, (_, index) => `X${index}: y`)),
      outcome: "431 closed",
    },
    { title: "Connection: close", request: get(path, "Connection: close"), outcome: "200 closed" },
    { title: "Proxy-Connection: close", request: get(path, "Proxy-Connection: close"), outcome: "200 closed" },
    { title: "Range, which is not offered", request: get(path, "Range: bytes=0-0"), outcome: "200 open" },
    {
      title: "Upgrade: h2c, which is not offered",
      request: get(
        path,
        "Connection: Upgrade, HTTP2-Settings",
        "Upgrade: h2c",
        "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
      ),
      outcome: "200 open",
    },
    {
      title: "Upgrade: websocket, which is not offered",
      request: get(
        path,
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
      ),
      outcome: "200 open",
    },
    {
      title: "Expect: 100-continue, with the body already there",
      request: post(["Content-Length: 2", "Expect: 100-continue"]),
      outcome: "201 open",
    },
    { title: "another Expect", request: post(["Content-Length: 2", "Expect: 200-ok"]), outcome: "201 open" },
  ],
  "Content-Length": [
    { title: "correct", request: post(["Content-Length: 2"]), outcome: "201 open" },
    { title: "absent, so no body", request: post([], ""), outcome: "400 open" },
    { title: "zero", request: post(["Content-Length: 0"], ""), outcome: "400 open" },
    {
      title: "twice, with the same value",
      request: post(["Content-Length: 2", "Content-Length: 2"]),
      outcome: "400 closed",
    },
    {
      title: "twice, with different values",
      request: post(["Content-Length: 2", "Content-Length: 3"]),
      outcome: "400 closed",
    },
    { title: "a list", request: post(["Content-Length: 2, 2"]), outcome: "400 closed" },
    { title: "negative", request: post(["Content-Length: -2"]), outcome: "400 closed" },
    { title: "with a plus", request: post(["Content-Length: +2"]), outcome: "400 closed" },
    { title: "hexadecimal", request: post(["Content-Length: 0x2"]), outcome: "400 closed" },
    { title: "a word", request: post(["Content-Length: abc"]), outcome: "400 closed" },
    { title: "empty", request: post(["Content-Length: "]), outcome: "400 closed" },
    { title: "with a space inside", request: post(["Content-Length: 1 2"]), outcome: "400 closed" },
    { title: "with leading zeros", request: post(["Content-Length: 0002"]), outcome: "201 open" },
    { title: "beyond 64 bits", request: post(["Content-Length: 99999999999999999999999"]), outcome: "400 closed" },
    { title: "with a tab after it", request: post(["Content-Length: 2\t"]), outcome: "400 closed" },
    {
      title: "together with Transfer-Encoding",
      request: post(["Content-Length: 2", "Transfer-Encoding: chunked"], wellChunked),
      outcome: "400 closed",
    },
    { title: "on GET, whose body is skipped", request: `${get(path, "Content-Length: 2")}{}`, outcome: "200 open" },
    {
      title: "on GET, whose body looks like a request",
      request: get(path, `Content-Length: ${get("/nowhere").length}`) + get("/nowhere"),
      outcome: "200 open",
    },
  ],
  "Transfer-Encoding": [
    { title: "chunked", request: chunked(wellChunked), outcome: "201 open" },
    {
      title: "chunked in another letter case",
      request: post(["Transfer-Encoding: Chunked"], wellChunked),
      outcome: "201 open",
    },
    { title: "empty", request: post(["Transfer-Encoding: "], wellChunked), outcome: "400 closed" },
    { title: "gzip", request: post(["Transfer-Encoding: gzip"], wellChunked), outcome: "400 closed" },
    { title: "gzip, chunked", request: post(["Transfer-Encoding: gzip, chunked"], wellChunked), outcome: "400 closed" },
    { title: "chunked, gzip", request: post(["Transfer-Encoding: chunked, gzip"], wellChunked), outcome: "400 closed" },
    {
      title: "chunked twice",
      request: post(["Transfer-Encoding: chunked, chunked"], wellChunked),
      outcome: "400 closed",
    },
    {
      title: "in two fields",
      request: post(["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], wellChunked),
      outcome: "400 closed",
    },
    { title: "identity", request: post(["Transfer-Encoding: identity", "Content-Length: 2"]), outcome: "400 closed" },
    {
      title: "a word that ends in chunked",
      request: post(["Transfer-Encoding: xchunked"], wellChunked),
      outcome: "400 closed",
    },
    {
      title: "with a space before the colon",
      request: post(["Transfer-Encoding : chunked"], wellChunked),
      outcome: "400 closed",
    },
    {
      title: "chunked, with a tab after it",
      request: post(["Transfer-Encoding: chunked\t"], wellChunked),
      outcome: "400 closed",
    },
    { title: "in HTTP/1.0", request: post(["Transfer-Encoding: chunked"], wellChunked, "1.0"), outcome: "400 closed" },
  ],
  chunks: [
    { title: "with an extension", request: chunked("2;a=b\r\n{}\r\n0\r\n\r\n"), outcome: "201 open" },
    { title: "with a quoted extension", request: chunked('2;a="b"\r\n{}\r\n0\r\n\r\n'), outcome: "201 open" },
    { title: "with two extensions", request: chunked("2;a=b;c\r\n{}\r\n0\r\n\r\n"), outcome: "201 open" },
    { title: "with a blank after the size", request: chunked("2 \r\n{}\r\n0\r\n\r\n"), outcome: "400 closed" },
    { title: "with a tab after the size", request: chunked("2\t\r\n{}\r\n0\r\n\r\n"), outcome: "400 closed" },
    { title: "with a blank before an extension", request: chunked("2 ;a\r\n{}\r\n0\r\n\r\n"), outcome: "400 closed" },
    { title: "with a blank inside an extension", request: chunked("2;a =b\r\n{}\r\n0\r\n\r\n"), outcome: "400 closed" },
    { title: "with a blank after an extension", request: chunked("2;a \r\n{}\r\n0\r\n\r\n"), outcome: "400 closed" },
    { title: "with an extension without a name", request: chunked("2;\r\n{}\r\n0\r\n\r\n"), outcome: "400 closed" },
    {
      title: "with an extension that has a value and no name",
      request: chunked("2;=b\r\n{}\r\n0\r\n\r\n"),
      outcome: "400 closed",
    },
    {
      title: "with an extension that has an equals sign and no value",
      request: chunked("2;a=\r\n{}\r\n0\r\n\r\n"),
      outcome: "400 closed",
    },
    {
      title: "with an extension whose quote does not end",
      request: chunked('2;a="b\r\n{}\r\n0\r\n\r\n'),
      outcome: "400 closed",
    },
    {
      title: "with an extension that goes on after its quote",
      request: chunked('2;a="b"c\r\n{}\r\n0\r\n\r\n'),
      outcome: "400 closed",
    },
    {
      title: "with a byte outside ASCII in an extension",
      request: chunked("2;a=\xe9\r\n{}\r\n0\r\n\r\n"),
      outcome: "400 closed",
    },
    {
      title: "with Content-Length in the trailer",
      request: chunked("2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n"),
      outcome: "400 closed",
    },
    {
      title: "with Transfer-Encoding in the trailer",
      request: chunked("2\r\n{}\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n"),
      outcome: "400 closed",
    },
    { title: "with Host in the trailer", request: chunked("2\r\n{}\r\n0\r\nHost: b\r\n\r\n"), outcome: "400 closed" },
    {
      title: "with Connection in the trailer",
      request: chunked("2\r\n{}\r\n0\r\nConnection: close\r\n\r\n"),
      outcome: "400 closed",
    },
    { title: "with leading zeros", request: chunked("002\r\n{}\r\n000\r\n\r\n"), outcome: "201 open" },
    { title: "with a size in capitals", request: chunked('A\r\n{"abcd":1}\r\n0\r\n\r\n'), outcome: "201 open" },
    { title: "with a size that is not a number", request: chunked("zz\r\n{}\r\n0\r\n\r\n"), outcome: "400 closed" },
    { title: "with a negative size", request: chunked("-2\r\n{}\r\n0\r\n\r\n"), outcome: "400 closed" },
    { title: "with 0x before the size", request: chunked("0x2\r\n{}\r\n0\r\n\r\n"), outcome: "400 closed" },
    { title: "without a size", request: chunked("\r\n{}\r\n0\r\n\r\n"), outcome: "400 closed" },
    {
      title: "with a size beyond 64 bits",
      request: chunked("ffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
      outcome: "400 closed",
    },
    { title: "longer than they say", request: chunked("2\r\n{}xx\r\n0\r\n\r\n"), outcome: "400 closed" },
    { title: "without the line end after them", request: chunked("2\r\n{}0\r\n\r\n"), outcome: "400 closed" },
    { title: "with lines that end in LF only", request: chunked("2\n{}\n0\n\n"), outcome: "400 closed" },
    {
      title: "with a trailer that is not a field",
      request: chunked("2\r\n{}\r\n0\r\nGET / HTTP/1.1\r\n\r\n"),
      outcome: "400 closed",
    },
    {
      title: "with a trailer folded over two lines",
      request: chunked("2\r\n{}\r\n0\r\nX: y\r\n z\r\n\r\n"),
      outcome: "400 closed",
    },
    {
      title: "with a trailer of too many lines",
      request: chunked(`2\r\n{}\r\n0\r\n${"X: y\r\n".repeat(200)}`),
      outcome: "400 closed",
    },
    {
      title: "with an extension of 5,000 letters",
      request: chunked(`2;${"a".repeat(5_000)}\r\n{}\r\n0\r\n\r\n`),
      outcome: "400 closed",
    },
    {
      title: "with a control character in an extension",
      request: chunked("2;a\x01\r\n{}\r\n0\r\n\r\n"),
      outcome: "400 closed",
    },
    { title: "with a space before the size", request: chunked(" 2\r\n{}\r\n0\r\n\r\n"), outcome: "400 closed" },
    { title: "with a CR alone after the size", request: chunked("2\r{}\r\n0\r\n\r\n"), outcome: "400 closed" },
    {
      title: "with a trailer",
      request: chunked("2\r\n{}\r\n0\r\nX: y\r\n\r\n"),
      outcome: "201 open",
    },
  ],
};

/** Matches the head of an answer, but not that of the interim answer 100 Continue. */
const finalAnswer = /HTTP\/1\.1 (?!100)\d+ .*?\r\n\r\n/s;

/**
 * Sends a request on a new connection, and a second request after the answer. If the connection is still open, the
 * second request must get its own answer. This shows that both sides agree on where the first request ended.
 */
export async function outcomeOf(port: number, request: string): Promise<string> {
  const connection = await RawConnection.open(port);
  connection.send(request);
  await connection.until(finalAnswer);
  // If the connection is open and the server has found the correct end of the first request, this request gets 404.
  connection.send(get("/the-second-request", "Connection: close"));
  const answers = await connection.untilClosed();
  connection.close();
  const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status = ""]) => status);
  const goesOn =
    answers.includes("There is nothing at this address") && statuses.at(-1) === "404" && statuses.length > 1;
  return [...(goesOn ? statuses.slice(0, -1) : statuses), goesOn ? "open" : "closed"].join(" ");
}
