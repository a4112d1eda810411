// An answer as HTTP/1.1 sends it. What is sent to many is put together once.

import { STATUS_CODES } from "node:http";
import type { Answer } from "../message.ts";

/** A body up to here is sent in one piece with its head; over it, copying costs more than a second call. */
const joinedBytesMax = 256 * 1024;

interface Ready {
  readonly date: string;
  readonly bytes: Buffer;
}

const ready = new WeakMap<Answer, Ready>();

/** Text is sent as UTF-8. */
export type Piece = string | Uint8Array;

/** What to send, piece by piece. Of a streamed answer, nothing. */
export function answerPieces(answer: Answer, date: string, closes: boolean, withBody: boolean): readonly Piece[] {
  const { body } = answer;
  if (body instanceof Uint8Array) {
    if (body.length <= joinedBytesMax && withBody && !closes) return [readyBytes(answer, body, date)];
    const head = headText(answer, date, closes, body.length);
    return withBody ? [head, body] : [head];
  }
  if (body === undefined) return [headText(answer, date, closes, hasNoBody(answer) ? undefined : 0)];
  if (typeof body !== "string") return [];
  const head = headText(answer, date, closes, Buffer.byteLength(body));
  return [withBody ? head + body : head];
}

function readyBytes(answer: Answer, body: Uint8Array, date: string): Buffer {
  const known = ready.get(answer);
  if (known?.date === date) return known.bytes;
  const bytes = Buffer.concat([Buffer.from(headText(answer, date, false, body.length)), body]);
  ready.set(answer, { date, bytes });
  return bytes;
}

/** The head of an answer whose body comes later, in chunks or until the connection closes. */
export function streamHead(answer: Answer, date: string, closes: boolean, inChunks: boolean): string {
  return headText(inChunks ? answer.with(chunkedHeader) : answer, date, closes, undefined);
}

function headText({ status, headers }: Answer, date: string, closes: boolean, length: number | undefined): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
  for (const name in headers) if (name !== "Connection") text += `${name}: ${headers[name]}\r\n`;
  if (length !== undefined) text += `Content-Length: ${length}\r\n`;
  if (closes) text += "Connection: close\r\n";
  return `${text}Date: ${date}\r\n\r\n`;
}

/** RFC 9110, sections 8.6 and 15.4.5: these end with their head, and may not state a length of nothing. */
function hasNoBody({ status }: Answer): boolean {
  return status === 204 || status === 304;
}

const chunkedHeader = { "Transfer-Encoding": "chunked" };

let lastChunk: { readonly content: Uint8Array; readonly chunk: Buffer } | undefined;

/** A piece of a streamed body. Readers that keep up are all sent the same piece. */
export function chunkBytes(content: Uint8Array): Uint8Array {
  if (lastChunk?.content === content) return lastChunk.chunk;
  const chunk = Buffer.concat([Buffer.from(`${content.length.toString(16)}\r\n`), content, Buffer.from("\r\n")]);
  lastChunk = { content, chunk };
  return chunk;
}

export const lastChunkBytes: Uint8Array = Buffer.from("0\r\n\r\n");
