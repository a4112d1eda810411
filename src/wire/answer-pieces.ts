// Encodes answers for HTTP/1.1. If an answer goes to many requests, its encoded form is cached until the date in it
// changes.

import { STATUS_CODES } from "node:http";
import { type Answer, PieceBody } from "./message.ts";
import type { Piece } from "./send-queue.ts";

/**
 * If a cached answer has at most this many bytes, its head and body are joined into one piece. For a larger answer,
 * copying them would cost more than sending each piece with its own system call.
 */
const joinedBytesMax = 256 * 1024;

interface ReadyPieces {
  readonly date: string;
  readonly pieces: readonly Piece[];
}

const readyPieces = new WeakMap<Answer, ReadyPieces>();

/** The text and bytes to send, in order. Returns an empty array for a streamed answer. */
export function answerPieces(answer: Answer, date: string, closes: boolean, withBody: boolean): readonly Piece[] {
  if (!answer.isStanding || closes || !withBody) return makePieces(answer, date, closes, withBody);
  const known = readyPieces.get(answer);
  if (known?.date === date) return known.pieces;
  const made = { date, pieces: joinedIfSmall(makePieces(answer, date, closes, withBody)) };
  readyPieces.set(answer, made);
  return made.pieces;
}

function joinedIfSmall(pieces: readonly Piece[]): readonly Piece[] {
  const contents = pieces.map((piece) => {
    if (typeof piece === "string") return Buffer.from(piece);
    return piece instanceof Uint8Array ? piece : piece.bytes;
  });
  const length = contents.reduce((sum, content) => sum + content.length, 0);
  return length <= joinedBytesMax ? [Buffer.concat(contents, length)] : pieces;
}

function makePieces(answer: Answer, date: string, closes: boolean, withBody: boolean): readonly Piece[] {
  const { body } = answer;
  if (body instanceof Uint8Array) {
    const head = headText(answer, date, closes, body.length);
    return withBody ? [head, body] : [head];
  }
  if (body instanceof PieceBody) {
    const head = headText(answer, date, closes, body.byteLength);
    return withBody ? [head, ...body.pieces] : [head];
  }
  if (body === undefined) {
    // A 204 or 304 never has a body, and must not claim a length of 0 (RFC 9110, sections 8.6 and 15.4.5).
    const endsWithHead = answer.status === 204 || answer.status === 304;
    return [headText(answer, date, closes, endsWithHead ? undefined : 0)];
  }
  if (typeof body !== "string") return [];
  const head = headText(answer, date, closes, Buffer.byteLength(body));
  return [withBody ? head + body : head];
}

/** The head of a streamed answer. If `inChunks` is false, the body will end when the connection closes. */
export function streamHead(answer: Answer, date: string, closes: boolean, inChunks: boolean): string {
  return headText(inChunks ? answer.with(chunkedHeader) : answer, date, closes, undefined);
}

function headText({ status, headers }: Answer, date: string, closes: boolean, length: number | undefined): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
  for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
  if (length !== undefined) text += `Content-Length: ${length}\r\n`;
  if (closes) text += "Connection: close\r\n";
  return `${text}Date: ${date}\r\n\r\n`;
}

const chunkedHeader = { "Transfer-Encoding": "chunked" };

let lastChunk: { readonly content: Uint8Array; readonly chunk: Buffer } | undefined;

/**
 * Encodes a piece of a streamed body as an HTTP chunk. The most recent chunk is cached, because the handler often
 * writes the same piece to many connections.
 */
export function chunkBytes(content: Uint8Array): Uint8Array {
  if (lastChunk?.content === content) return lastChunk.chunk;
  const chunk = Buffer.concat([Buffer.from(`${content.length.toString(16)}\r\n`), content, Buffer.from("\r\n")]);
  lastChunk = { content, chunk };
  return chunk;
}

export const lastChunkBytes: Uint8Array = Buffer.from("0\r\n\r\n");
