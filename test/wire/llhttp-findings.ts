// Streams that an earlier run found: we accepted them, but llhttp refused them or read them differently. Every run
// compares them again.

const chunked = (body: string) => `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;
const next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";

export const findings: Readonly<Record<string, string>> = {
  "HTTP/1.2": `GET / HTTP/1.2\r\nHost: a\r\n\r\n${next}`,
  "HTTP/1.9": `GET / HTTP/1.9\r\nHost: a\r\n\r\n${next}`,
  "a byte outside ASCII in the path": `GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n${next}`,
  "a byte outside ASCII in the query": `GET /?\xe9 HTTP/1.1\r\nHost: a\r\n\r\n${next}`,
  "a tab after Content-Length": `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\t\r\n\r\nhello${next}`,
  "a tab after Transfer-Encoding": `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n${next}`,
  "a request after CONNECT": `CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n${next}`,
  "CONNECT with a Content-Length": `CONNECT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}${next}`,
  "CONNECT with two transfer codings": `CONNECT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n${next}`,
  "a request after Proxy-Connection: close": `GET / HTTP/1.1\r\nHost: a\r\nProxy-Connection: close\r\n\r\n${next}`,
  "a blank after a chunk size": `${chunked("1 \r\na\r\n0\r\n\r\n")}${next}`,
  "a tab after a chunk size": `${chunked("1\t\r\na\r\n0\r\n\r\n")}${next}`,
  "a blank in a chunk extension": `${chunked("1; a\r\na\r\n0\r\n\r\n")}${next}`,
  "a chunk extension without a name": `${chunked("1;\r\na\r\n0\r\n\r\n")}${next}`,
  "a byte outside ASCII in a chunk extension": `${chunked("1;a=\xe9\r\na\r\n0\r\n\r\n")}${next}`,
  "Transfer-Encoding in a trailer": `${chunked("0\r\nTransfer-Encoding: gzip\r\n\r\n")}${next}`,
  "Content-Length in a trailer": `${chunked("0\r\nContent-Length: 5\r\n\r\n")}${next}`,
  "Connection: close in a trailer": `${chunked("0\r\nConnection: close\r\n\r\n")}${next}`,
};
