// HTTP/2 frames for attacks: how frames are written, sensible conversations, and ways to spoil a conversation.

import type { Random } from "../wire/random.ts";

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
  /** The length that the frame claims to have, if it lies. */
  readonly claimedLength?: number;
}

// A frame's type is its place in this list.
const frameNames = [
  "DATA",
  "HEADERS",
  "PRIORITY",
  "RST_STREAM",
  "SETTINGS",
  "PUSH_PROMISE",
  "PING",
  "GOAWAY",
  "WINDOW_UPDATE",
  "CONTINUATION",
] as const;

export const frameTypes: ReadonlyMap<string, number> = new Map(frameNames.map((name, type) => [name, type]));

export const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const endStream = 1;
const endHeaders = 4;

function frame(name: (typeof frameNames)[number], flags: number, stream: number, payload = ""): Frame {
  return { type: frameNames.indexOf(name), flags, stream, payload: Buffer.from(payload, "latin1") };
}

export function encode({ type, flags, stream, payload, claimedLength = payload.length }: Frame): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(claimedLength % 2 ** 24, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

export const emptySettings = frame("SETTINGS", 0, 0);
export const rstStream = (stream: number) => frame("RST_STREAM", 0, stream, "\0\0\0\x08");

/** The head of a request in HPACK: indexed fields for method and scheme, then literal fields that are not indexed. */
function head(method: "GET" | "POST", path: string): string {
  const literal = (name: string, value: string) => `${name}${String.fromCharCode(value.length)}${value}`;
  const fields = literal("\x04", path) + literal("\x01", "localhost") + literal("\x0f\x10", "application/json");
  return `${method === "GET" ? "\x82" : "\x83"}\x87${fields}`;
}

export function getRequest(stream: number, path: string): Frame {
  return frame("HEADERS", endHeaders | endStream, stream, head("GET", path));
}

/**
 * A conversation of valid requests, sometimes with other frames in between. No request in it can change an item,
 * because every body ends in the middle of a JSON string.
 */
export function conversation(random: Random): Frame[] {
  const frames: Frame[] = [emptySettings];
  const count = 1 + random.below(8);
  for (let index = 0; index < count; index++) {
    const stream = 1 + 2 * index;
    const way = random.below(6);
    if (way === 0) frames.push(...splitHead(random, stream));
    else if (way === 1) frames.push(...unfinishedPost(random, stream));
    else
      frames.push(getRequest(stream, random.pick(["/api/todoitems/", "/", "/changes", "/health/ready", "/nothing"])));
    if (random.chance(0.3)) frames.push(extra(random, stream));
  }
  return frames;
}

function splitHead(random: Random, stream: number): Frame[] {
  const text = head("GET", "/api/todoitems/");
  const at = random.below(text.length);
  return [
    frame("HEADERS", endStream, stream, text.slice(0, at)),
    frame("CONTINUATION", endHeaders, stream, text.slice(at)),
  ];
}

function unfinishedPost(random: Random, stream: number): Frame[] {
  const body = `{"Name":"${"x".repeat(random.below(2_000))}`;
  const at = random.below(body.length);
  return [
    frame("HEADERS", endHeaders, stream, head("POST", "/api/todoitems/")),
    frame("DATA", 0, stream, body.slice(0, at)),
    frame("DATA", random.pick([0, endStream]), stream, body.slice(at)),
  ];
}

function extra(random: Random, stream: number): Frame {
  const number = () => String.fromCharCode(...Array.from({ length: 4 }, () => random.below(256)));
  const setting = `\0${String.fromCharCode(random.below(8))}${number()}`;
  return random.pick([
    frame("PING", 0, 0, "12345678"),
    frame("SETTINGS", 0, 0, setting),
    frame("SETTINGS", 1, 0),
    frame("WINDOW_UPDATE", 0, random.pick([0, stream]), number()),
    frame("PRIORITY", 0, stream, `${number()}\x10`),
    rstStream(stream),
    frame("GOAWAY", 0, 0, `${number()}${number()}`),
    { ...frame("PING", random.below(256), stream, number()), type: random.below(256) },
  ]);
}

/** Spoils a conversation in one to three ways. */
export function spoil(random: Random, frames: readonly Frame[]): Frame[] {
  let spoilt = [...frames];
  for (let ways = 1 + random.below(3); ways > 0; ways--) {
    const at = random.below(spoilt.length);
    const victim = spoilt[at];
    if (!victim) continue;
    const way = random.below(5);
    if (way === 0) spoilt.splice(at, 1);
    else if (way === 1) spoilt.splice(at, 0, ...Array.from({ length: 1 + random.below(200) }, () => victim));
    else if (way === 2) spoilt = [...spoilt.slice(0, at), ...spoilt.slice(at).sort(() => random.next() - 0.5)];
    else spoilt[at] = spoilFrame(random, victim);
  }
  return spoilt;
}

function spoilFrame(random: Random, victim: Frame): Frame {
  const way = random.below(5);
  if (way === 0) return { ...victim, type: random.below(12) };
  if (way === 1) return { ...victim, flags: random.below(256) };
  if (way === 2) return { ...victim, stream: random.pick([0, 2, 1, 99, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]) };
  if (way === 3)
    return { ...victim, claimedLength: random.pick([0, 1, victim.payload.length + 1, 16_385, 2 ** 24 - 1]) };
  const payload = Buffer.from(victim.payload);
  for (let flips = 1 + random.below(4); flips > 0 && payload.length > 0; flips--) {
    payload[random.below(payload.length)] = random.below(256);
  }
  return { ...victim, payload };
}
