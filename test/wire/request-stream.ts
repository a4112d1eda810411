// Random streams of HTTP/1.1 requests. Most requests are well formed. The others are wrong at random places, mostly in
// ways that parsers are known to disagree about. Bytes are handled as text in Latin-1.

import type { Random } from "./random.ts";
import {
  codingParts,
  codings,
  connectionParts,
  extensionParts,
  extensions,
  fields,
  hosts,
  lengthParts,
  lineEnds,
  methods,
  oddCodings,
  oddExtensions,
  oddFields,
  oddHosts,
  oddLengths,
  oddMethods,
  oddTargets,
  oddTrailers,
  oddVersions,
  targets,
  trailers,
  valueParts,
} from "./request-parts.ts";

export interface RequestStream {
  readonly text: string;
  /** Where the stream is split before it is passed to the connection. */
  readonly cuts: readonly number[];
  /** How many requests the stream had before some of its bytes were changed. */
  readonly messages: number;
  readonly readsBodies: boolean;
}

/** A damaged byte usually becomes one of these characters, because they have a meaning to a parser. */
const telling = '\r\n \t:;,\x00\x0b\x0c\x7f\xff0aA/HG="\\#?';

/** The probability that a part of a request is odd. request-parts.ts says what this means. */
const oddness = 0.015;

export function requestStream(random: Random): RequestStream {
  const count = 1 + random.below(4);
  const starts: number[] = [];
  let text = "";
  let last = "";
  for (let number = 0; number < count; number++) {
    // Sometimes repeat the last request, because a connection remembers the bytes of its last request.
    if (last === "" || !random.chance(0.15)) last = request(random);
    starts.push(text.length);
    text +=
      (random.chance(oddness) ? random.pick(["\r\n", "\r\n\r\n", "\n", "\r", " ", "\r\n\n", "\t", "\x00"]) : "") + last;
  }
  starts.push(text.length);
  // A parser reads this last request correctly only if it has found the correct end of everything before it.
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
  // Each piece gets its own buffer, as pieces from a socket do.
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
  // With this many fields, llhttp reports them in several parts.
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

/** Shuffles everything after the request line. */
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
