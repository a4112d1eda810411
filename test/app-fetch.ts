// Sends a `Request` to an app and returns a `Response`, without a socket unless `sendThrough` has set another way.

import type { App } from "../src/http/app.ts";
import { type Answer, type HttpRequest, PieceBody, type StreamBody } from "../src/wire/message.ts";
import { bodyTooLarge } from "../src/wire/refusal.ts";

type Send = (app: App, request: Request, peer: string) => Promise<Answer>;

let send: Send = async (app, request, peer) => app.handle(requestOf(request, peer));

/** From now on, `appFetch` sends every request through `way`. */
export function sendThrough(way: Send): void {
  send = way;
}

export async function appFetch(app: App, request: Request, peer: string): Promise<Response> {
  return responseOf(await send(app, request, peer));
}

export function requestOf(request: Request, peer: string): HttpRequest {
  const { pathname, search } = new URL(request.url);
  return {
    method: request.method,
    path: pathname,
    query: search.slice(1),
    headers: new Map(request.headers),
    peer,
    isSecure: false,
    async readBody(bytesMax) {
      const bytes = await request.bytes();
      if (bytes.length > bytesMax) throw bodyTooLarge(bytesMax, false);
      return bytes;
    },
  };
}

function responseOf({ status, headers, body }: Answer): Response {
  const init = { status, headers };
  if (body === undefined) return new Response(null, init);
  if (typeof body === "string" || body instanceof Uint8Array) return new Response(Buffer.from(body), init);
  if (body instanceof PieceBody) return new Response(Buffer.concat(body.pieces.map(({ bytes }) => bytes)), init);
  return new Response(readable(body), init);
}

function readable(body: StreamBody): ReadableStream<Uint8Array> {
  let source: ReturnType<StreamBody["open"]> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        source = body.open({
          write: (bytes) => controller.enqueue(bytes),
          end(last) {
            if (last) controller.enqueue(last);
            controller.close();
          },
        });
      },
      pull: () => source?.pull(),
      cancel: () => source?.cancel(),
    },
    { highWaterMark: 0 },
  );
}
