// Streams of HTTP/1.1 requests, most of them well formed, the rest wrong in the places that parsers are known
// to disagree about. Text stands for bytes: each character is the byte of its number.

import type { Random } from "./random.ts";

export interface RequestStream {
  readonly text: string;
  /** Where it is cut on the way to the connection. */
  readonly cuts: readonly number[];
  /** How many requests went in, before bytes were damaged. */
  readonly messages: number;
  readonly readsBodies: boolean;
}

const methods = ["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"];
const oddMethods = [
  "CONNECT",
  "TRACE",
  "PRI",
  "SOURCE",
  "M-SEARCH",
  "get",
  "FOO",
  "PLAY",
  "GETX",
  "G",
  "A!#$%&'*+.^_`|~1",
  "",
  "G(T",
  "PROPFIND",
];
const targets = [
  "/",
  "/a",
  "/api/todoitems/",
  "/a?b=c",
  "/?",
  "/a?b?c",
  "http://a/b",
  "http://a",
  "https://a:1?q",
  "/%00",
  "/a//b",
  "//a",
];
const oddTargets = [
  "/\xe9",
  "/?\xe9",
  "http://a/\xe9",
  "*",
  "a:80",
  "a",
  "/a#b",
  "http://a#b",
  "http://",
  "http:///",
  "http://[::1]/",
  "HTTP://A/",
  "ftp://a/",
  "/a b",
  "/\x01",
  "/\x7f",
  "?a",
  "#",
  "http://u@a/",
  "/\t",
  "http://a\\b/",
  '/<>"{}|^`',
  "\xff",
  "h",
  "http:/a",
  "://a",
  "/a\x00",
];
const oddVersions = [
  "HTTP/1.0",
  "HTTP/1.0",
  "HTTP/1.2",
  "HTTP/1.3",
  "HTTP/1.9",
  "HTTP/0.9",
  "HTTP/2.0",
  "HTTP/1.",
  "HTTP/1",
  "HTTP/11.1",
  "HTTP/1.10",
  "http/1.1",
  "HTTP/1.1 ",
  " HTTP/1.1",
  "HTTP /1.1",
  "HTTPS/1.1",
  "ICE/1.0",
  "RTSP/1.0",
  "HTTP/1.x",
  "HTTP/1.1\t",
  "",
];
const lineEnds = ["\n", "\r", "\r\r\n", "\n\r", " \r\n", "\t\r\n", "\r\n\r\n", "\x0b\r\n", "\r \n"];
const hosts = ["a", "a:80", "localhost", "[::1]:80", "192.0.2.1"];
const oddHosts = ["", " ", "a b", "u@a", "a/b", "a,b", "\xe9", "a:b", "[::1", "a, a"];
const fields = [
  "X: y",
  "Accept: */*",
  "X:y",
  "X:  y",
  "X: y ",
  "X:\ty\t",
  "X:",
  "X: ",
  "X: a\tb",
  "X: caf\xe9",
  "!#$%&'*+.^_`|~9: z",
  "Connection: keep-alive",
  "Connection: foo, bar",
  "Cookie: a=b; c=d",
  "X: a:b",
  'X: "q\\""',
  "Content-Type: application/json",
  "Accept: a",
  "Accept: b",
  "Keep-Alive: 5",
];
const oddFields = [
  "Connection: close",
  "Connection: Close",
  "Connection: close, x",
  "Connection: x,close",
  "Connection:\tclose",
  "Connection: x , close",
  "Connection: closed",
  "Connection: close close",
  "Connection: close;q=1",
  "Connection: keep-alive, close",
  "Connection: ,close,",
  'Connection: "close"',
  "Connection: upgrade",
  "Connection: Upgrade",
  "Proxy-Connection: close",
  "Upgrade: h2c",
  "Upgrade: websocket",
  "Upgrade:",
  "Expect: 100-continue",
  "Expect: 100-Continue",
  "Expect: x",
  "X : y",
  "X\t: y",
  " X: y",
  "\tX: y",
  "X y",
  ": y",
  "X\x00: y",
  "X: \x00",
  "X: a\rb",
  "X: a\nb",
  "X: \x01",
  "X: \x7f",
  "X(: y",
  "X\xe9: y",
  "X: a\r\n b",
  "X: a\r\n\tb",
  "X: \r\n y",
  "X: a\r\n",
  "Host: b",
  "Host: a",
  "X: \x0b",
  "X: \x0c",
  "X:\x1fy",
  "X: a\x08b",
  "X: \x80\x9f\xff",
  "X@: y",
  "X{: y",
  "Content-Length : 5",
  "Content\x00-Length: 5",
  "Transfer-Encoding\x0b: chunked",
  "Transfer-Encoding:\x0bchunked",
  "Transfer-Encoding:\x00chunked",
  "Connection: close\x0b",
];
const oddLengths = (length: string) => [
  `${length}, ${length}`,
  `+${length}`,
  `-${length}`,
  `0x${length}`,
  `0${length}`,
  `000${length}`,
  `${length}.0`,
  ` ${length}`,
  `${length} `,
  `${length}\t`,
  `\t${length}`,
  "",
  " ",
  `${length} 1`,
  `${length};`,
  `1${length}`,
  "18446744073709551616",
  "9007199254740993",
  "99999999999999999999",
  "18446744073709551617",
  `${length}e0`,
  `${length}\x0b`,
  `"${length}"`,
  `${length},`,
  `1_${length}`,
];
const codings = ["chunked", "Chunked", "CHUNKED", " chunked ", "chunked"];
const oddCodings = [
  "\tchunked",
  "chunked\t",
  "gzip, chunked",
  "chunked, gzip",
  "chunked, chunked",
  "identity",
  "gzip",
  "xchunked",
  "chunkedx",
  "",
  ",chunked",
  "chunked,",
  "chunked;q=1",
  "chunked;",
  '"chunked"',
  "chun ked",
  "chunked chunked",
  "\x0bchunked",
  "chunked\x0b",
  "identity, chunked",
  "chunked\x00",
  "x,chunked",
  "chunked, identity",
  "deflate,chunked",
];
const extensions = [";a", ";a=b", ';a="b"', ";a;b=c", ';a="b;c"', ';a="b\\"c"', ";a=b;c"];
const oddExtensions = [
  " ",
  "\t",
  " ;a",
  "; a",
  ";a =b",
  ";a= b",
  ";",
  ";;",
  ";=b",
  ";a=",
  ';a="',
  ';a="b',
  ';a=b"c"',
  ";a=b c",
  ";\x01",
  ";a=\xe9",
  ";a\x00",
  ';a="\x00"',
  ";a\rb",
  ";a\nb",
  "x",
  ".0",
  ";a==b",
  ';a="b"c',
  ';a="b\\',
  ';a="\xe9"',
  ";a,b",
  ";a ",
  ';a="b" ',
  ';a="b"\t;c',
  ';a="\t"',
  ';a="\x7f"',
  ';a="b\rc"',
  ";a=b\t",
  "; ",
  ";a=b;",
  ';a="\\\x01"',
];
const trailers = ["X: y", "X-Checksum: 1", "X:", "X: \xe9", "X:  y "];
const oddTrailers = [
  "Content-Length: 5",
  "Content-Length: 0",
  "Transfer-Encoding: chunked",
  "transfer-encoding: gzip",
  "Host: b",
  "Connection: close",
  "Connection: keep-alive",
  "Upgrade: x",
  "X : y",
  " X: y",
  "X",
  ":",
  "X: \x00",
  "X: \x01",
  "X: a\rb",
  "X: a\nb",
  "X: a\r\n b",
  "GET / HTTP/1.1",
  "X: \x7f",
  "Expect: 100-continue",
  "Trailer: X",
  "Authorization: x",
  "Content-Type: x",
  "X: \x0b",
];

/** Parts of a value, put together at random. */
const connectionParts = ["close", "keep-alive", "upgrade", "x", ",", ",", " ", "\t", ";", '"', "\x80"];
const codingParts = ["chunked", "chunked", "identity", "gzip", ",", " ", "\t", ";", "q=1", "\x80"];
const lengthParts = ["0", "5", " ", "\t", ",", "+", "."];
const extensionParts = [";", ";", "=", '"', "\\", "a", "b", " ", "\t", "\x80", "\x7f", "\x01", ","];
const valueParts = ["a", " ", "\t", ":", ",", '"', "\\", "\x80", "\xff", "\x7f", "\x01", "\r", "\n"];

/** What a damaged byte becomes: the characters that have a meaning to a parser, most of all. */
const telling = '\r\n \t:;,\x00\x0b\x0c\x7f\xff0aA/HG="\\#?';

/** How likely each part of a request is to be odd. */
const oddness = 0.015;

export function requestStream(random: Random): RequestStream {
  const count = 1 + random.below(4);
  const starts: number[] = [];
  let text = "";
  let last = "";
  for (let number = 0; number < count; number++) {
    // The same request again, since a connection recognises it by its bytes.
    if (last === "" || !random.chance(0.15)) last = request(random);
    starts.push(text.length);
    text +=
      (random.chance(oddness) ? random.pick(["\r\n", "\r\n\r\n", "\n", "\r", " ", "\r\n\n", "\t", "\x00"]) : "") + last;
  }
  starts.push(text.length);
  // Read as a request only by a reader that agrees with the sender on where everything before it ends.
  text += "GET /the-last-request HTTP/1.1\r\nHost: a\r\n\r\n";
  if (random.chance(0.12)) text = damaged(random, text);
  return { text, cuts: cuts(random, text.length, starts), messages: count + 1, readsBodies: random.chance(0.75) };
}

function cuts(random: Random, length: number, starts: readonly number[]): number[] {
  const way = random.below(8);
  if (way === 0) return Array.from({ length: length - 1 }, (_, index) => index + 1);
  if (way === 1) return starts.filter((start) => start > 0 && start < length);
  const places = Array.from({ length: random.below(5) }, () => 1 + random.below(length - 1));
  return [...new Set(places)].sort((one, other) => one - other);
}

export function pieces({ text, cuts }: Pick<RequestStream, "text" | "cuts">): Buffer[] {
  // Each in memory of its own, as from a socket.
  return [0, ...cuts].map((from, index) => Buffer.from(text.slice(from, cuts[index] ?? text.length), "latin1"));
}

function damaged(random: Random, text: string): string {
  let result = text;
  for (let number = 1 + random.below(2); number > 0; number--) {
    const at = random.below(result.length);
    const character = random.chance(0.8)
      ? (telling[random.below(telling.length)] ?? "")
      : String.fromCharCode(random.below(256));
    const way = random.below(4);
    if (way === 0) result = result.slice(0, at) + character + result.slice(at);
    else if (way === 1) result = result.slice(0, at) + result.slice(at + 1 + random.below(3));
    else if (way === 2) result = result.slice(0, at) + result.slice(at, at + random.below(12)) + result.slice(at);
    else result = result.slice(0, at) + character + result.slice(at + 1);
  }
  return result;
}

function request(random: Random): string {
  const odd = () => random.chance(oddness);
  const method = odd() ? random.pick(oddMethods) : random.pick(methods);
  const target = odd() ? random.pick(oddTargets) : random.pick(targets);
  const version = odd() ? random.pick(oddVersions) : "HTTP/1.1";
  const blank = () => (random.chance(oddness / 4) ? random.pick(["  ", "\t", "", "\r", "\x0b"]) : " ");
  const lines = [`${method}${blank()}${target}${blank()}${version}`];
  if (!random.chance(oddness / 3)) lines.push(`Host: ${odd() ? random.pick(oddHosts) : random.pick(hosts)}`);
  for (let number = random.below(4); number > 0; number--) lines.push(field(random));
  // llhttp hands over its fields in parts if there are many.
  if (random.chance(0.01)) for (let number = 0; number < 40; number++) lines.push(`X${number}: y`);
  const { framing, body } = framed(random);
  lines.push(...framing);
  shuffleTail(random, lines);
  const end = () => (random.chance(oddness / 10) ? random.pick(lineEnds) : "\r\n");
  return `${lines.map((line) => line + end()).join("")}${end()}${body}`;
}

function jumble(random: Random, parts: readonly string[]): string {
  return Array.from({ length: 1 + random.below(5) }, () => random.pick(parts)).join("");
}

function field(random: Random): string {
  if (random.chance(oddness)) return `Connection: ${jumble(random, connectionParts)}`;
  if (random.chance(oddness)) return `X:${jumble(random, valueParts)}`;
  const line = random.chance(oddness * 2) ? random.pick(oddFields) : random.pick(fields);
  return random.chance(0.1) ? line.toUpperCase() : line;
}

/** Everything but the request line, in any order. */
function shuffleTail(random: Random, lines: string[]): void {
  for (let index = lines.length - 1; index > 1; index--) {
    const other = 1 + random.below(index);
    [lines[index], lines[other]] = [lines[other] ?? "", lines[index] ?? ""];
  }
}

function framed(random: Random): { framing: readonly string[]; body: string } {
  const way = random.below(20);
  if (way < 8) return { framing: [], body: "" };
  const content = contentOf(random);
  const length = `Content-Length: ${content.length}`;
  const coding = `Transfer-Encoding: ${random.pick(codings)}`;
  if (way < 12) return { framing: [random.chance(0.5) ? length : length.toLowerCase()], body: content };
  if (way < 19) return { framing: [coding], body: chunks(random, content) };
  const oddValue = random.chance(0.5)
    ? random.pick(oddLengths(String(content.length)))
    : jumble(random, [...lengthParts, String(content.length)]);
  const oddCoding = random.chance(0.5) ? random.pick(oddCodings) : jumble(random, codingParts);
  const oddLength = `Content-Length: ${oddValue}`;
  if (random.chance(0.4)) return { framing: [oddLength], body: content };
  if (random.chance(0.4)) return { framing: [`Transfer-Encoding: ${oddCoding}`], body: chunks(random, content) };
  const pairs = [
    [length, length],
    [length, oddLength],
    [length, coding],
    [coding, coding],
    [coding, "Transfer-Encoding: identity"],
    ["Content-Length: 0", coding],
    ["Transfer-Encoding: ", coding],
    [length, "Transfer-Encoding: identity"],
    ["Content-Length: 0"],
    ["Transfer-Encoding: x", coding],
  ];
  return { framing: random.pick(pairs), body: random.chance(0.5) ? content : chunks(random, content) };
}

function contentOf(random: Random): string {
  const way = random.below(5);
  if (way === 0) return "GET /inside HTTP/1.1\r\nHost: a\r\n\r\n";
  if (way === 1) return "0\r\n\r\n";
  return random.pick(["{}", "", "hello", "\r\n", "\x00\xff", "a".repeat(300), "GET ", "5\r\nhello\r\n0\r\n\r\n"]);
}

function chunks(random: Random, content: string): string {
  const odd = () => random.chance(oddness);
  let body = "";
  for (let at = 0; at < content.length; ) {
    const piece = content.slice(at, at + 1 + random.below(content.length - at));
    body += chunk(random, piece);
    at += piece.length;
  }
  const end = () => (random.chance(oddness / 3) ? random.pick(lineEnds) : "\r\n");
  body += `${odd() ? random.pick(["00", "0000000000000000", "", "0x0", "-0", "+0", " 0"]) : "0"}${extension(random)}${end()}`;
  if (random.chance(0.2)) {
    for (let number = 1 + random.below(2); number > 0; number--) {
      body += (random.chance(0.1) ? random.pick(oddTrailers) : random.pick(trailers)) + end();
    }
  }
  return body + end();
}

function chunk(random: Random, content: string): string {
  const end = () => (random.chance(oddness / 3) ? random.pick(lineEnds) : "\r\n");
  let size = content.length.toString(16);
  if (random.chance(0.2)) size = size.toUpperCase();
  if (random.chance(0.05)) size = `${"0".repeat(1 + random.below(20))}${size}`;
  if (random.chance(oddness / 2))
    size = random.pick([
      `0x${size}`,
      `-${size}`,
      `+${size}`,
      ` ${size}`,
      "",
      "g",
      `${size}h`,
      `${size},`,
      "ffffffffffffffff",
      "10000000000000000",
      `1${"0".repeat(16)}${size}`,
      `${size}_`,
    ]);
  return `${size}${extension(random)}${end()}${content}${end()}`;
}

function extension(random: Random): string {
  if (random.chance(oddness)) return random.pick(oddExtensions);
  if (random.chance(oddness)) return jumble(random, extensionParts);
  return random.chance(0.1) ? random.pick(extensions) : "";
}
