// The parts that random requests are made of. Some parts are odd: parsers refuse them or are known to disagree about
// them, or they change what happens after the request (close, continue, upgrade).
// biome-ignore-all format: long lists of short texts.

export const methods = ["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"];
export const oddMethods = [
  "CONNECT", "TRACE", "PRI", "SOURCE", "M-SEARCH", "get", "FOO", "PLAY", "GETX", "G", "A!#$%&'*+.^_`|~1", "", "G(T",
  "PROPFIND",
];
export const targets = [
  "/", "/a", "/api/todoitems/", "/a?b=c", "/?", "/a?b?c", "http://a/b", "http://a", "https://a:1?q", "/%00", "/a//b",
  "//a",
];
export const oddTargets = [
  "/\xe9", "/?\xe9", "http://a/\xe9", "*", "a:80", "a", "/a#b", "http://a#b", "http://", "http:///", "http://[::1]/",
  "HTTP://A/", "ftp://a/", "/a b", "/\x01", "/\x7f", "?a", "#", "http://u@a/", "/\t", "http://a\\b/", '/<>"{}|^`',
  "\xff", "h", "http:/a", "://a", "/a\x00",
];
export const oddVersions = [
  "HTTP/1.0", "HTTP/1.0", "HTTP/1.2", "HTTP/1.3", "HTTP/1.9", "HTTP/0.9", "HTTP/2.0", "HTTP/1.", "HTTP/1",
  "HTTP/11.1", "HTTP/1.10", "http/1.1", "HTTP/1.1 ", " HTTP/1.1", "HTTP /1.1", "HTTPS/1.1", "ICE/1.0", "RTSP/1.0",
  "HTTP/1.x", "HTTP/1.1\t", "",
];
export const lineEnds = ["\n", "\r", "\r\r\n", "\n\r", " \r\n", "\t\r\n", "\r\n\r\n", "\x0b\r\n", "\r \n"];
export const hosts = ["a", "a:80", "localhost", "[::1]:80", "192.0.2.1"];
export const oddHosts = ["", " ", "a b", "u@a", "a/b", "a,b", "\xe9", "a:b", "[::1", "a, a"];
export const fields = [
  "X: y", "Accept: */*", "X:y", "X:  y", "X: y ", "X:\ty\t", "X:", "X: ", "X: a\tb", "X: caf\xe9",
  "!#$%&'*+.^_`|~9: z", "Connection: keep-alive", "Connection: foo, bar", "Cookie: a=b; c=d", "X: a:b", 'X: "q\\""',
  "Content-Type: application/json", "Accept: a", "Accept: b", "Keep-Alive: 5",
];
export const oddFields = [
  "Connection: close", "Connection: Close", "Connection: close, x", "Connection: x,close", "Connection:\tclose",
  "Connection: x , close", "Connection: closed", "Connection: close close", "Connection: close;q=1",
  "Connection: keep-alive, close", "Connection: ,close,", 'Connection: "close"', "Connection: upgrade",
  "Connection: Upgrade", "Proxy-Connection: close", "Upgrade: h2c", "Upgrade: websocket", "Upgrade:",
  "Expect: 100-continue", "Expect: 100-Continue", "Expect: x", "X : y", "X\t: y", " X: y", "\tX: y", "X y", ": y",
  "X\x00: y", "X: \x00", "X: a\rb", "X: a\nb", "X: \x01", "X: \x7f", "X(: y", "X\xe9: y", "X: a\r\n b", "X: a\r\n\tb",
  "X: \r\n y", "X: a\r\n", "Host: b", "Host: a", "X: \x0b", "X: \x0c", "X:\x1fy", "X: a\x08b", "X: \x80\x9f\xff",
  "X@: y", "X{: y", "Content-Length : 5", "Content\x00-Length: 5", "Transfer-Encoding\x0b: chunked",
  "Transfer-Encoding:\x0bchunked", "Transfer-Encoding:\x00chunked", "Connection: close\x0b",
];
export const oddLengths = (length: string) => [
  `${length}, ${length}`, `+${length}`, `-${length}`, `0x${length}`, `0${length}`, `000${length}`, `${length}.0`,
  ` ${length}`, `${length} `, `${length}\t`, `\t${length}`, "", " ", `${length} 1`, `${length};`, `1${length}`,
  "18446744073709551616", "9007199254740993", "99999999999999999999", "18446744073709551617", `${length}e0`,
  `${length}\x0b`, `"${length}"`, `${length},`, `1_${length}`,
];
export const codings = ["chunked", "Chunked", "CHUNKED", " chunked ", "chunked"];
export const oddCodings = [
  "\tchunked", "chunked\t", "gzip, chunked", "chunked, gzip", "chunked, chunked", "identity", "gzip", "xchunked",
  "chunkedx", "", ",chunked", "chunked,", "chunked;q=1", "chunked;", '"chunked"', "chun ked", "chunked chunked",
  "\x0bchunked", "chunked\x0b", "identity, chunked", "chunked\x00", "x,chunked", "chunked, identity",
  "deflate,chunked",
];
export const extensions = [";a", ";a=b", ';a="b"', ";a;b=c", ';a="b;c"', ';a="b\\"c"', ";a=b;c"];
export const oddExtensions = [
  " ", "\t", " ;a", "; a", ";a =b", ";a= b", ";", ";;", ";=b", ";a=", ';a="', ';a="b', ';a=b"c"', ";a=b c", ";\x01",
  ";a=\xe9", ";a\x00", ';a="\x00"', ";a\rb", ";a\nb", "x", ".0", ";a==b", ';a="b"c', ';a="b\\', ';a="\xe9"', ";a,b",
  ";a ", ';a="b" ', ';a="b"\t;c', ';a="\t"', ';a="\x7f"', ';a="b\rc"', ";a=b\t", "; ", ";a=b;", ';a="\\\x01"',
];
export const trailers = ["X: y", "X-Checksum: 1", "X:", "X: \xe9", "X:  y "];
export const oddTrailers = [
  "Content-Length: 5", "Content-Length: 0", "Transfer-Encoding: chunked", "transfer-encoding: gzip", "Host: b",
  "Connection: close", "Connection: keep-alive", "Upgrade: x", "X : y", " X: y", "X", ":", "X: \x00", "X: \x01",
  "X: a\rb", "X: a\nb", "X: a\r\n b", "GET / HTTP/1.1", "X: \x7f", "Expect: 100-continue", "Trailer: X",
  "Authorization: x", "Content-Type: x", "X: \x0b",
];

// Pieces of a value, which are joined at random.
export const connectionParts = ["close", "keep-alive", "upgrade", "x", ",", ",", " ", "\t", ";", '"', "\x80"];
export const codingParts = ["chunked", "chunked", "identity", "gzip", ",", " ", "\t", ";", "q=1", "\x80"];
export const lengthParts = ["0", "5", " ", "\t", ",", "+", "."];
export const extensionParts = [";", ";", "=", '"', "\\", "a", "b", " ", "\t", "\x80", "\x7f", "\x01", ","];
export const valueParts = ["a", " ", "\t", ":", ",", '"', "\\", "\x80", "\xff", "\x7f", "\x01", "\r", "\n"];
