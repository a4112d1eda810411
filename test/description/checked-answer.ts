// Compares every response that a test gets with the API's description. Throws if the response is not described.
// Why: docs/decisions/0069-one-description.md

import { completeDescription } from "../../src/description/api-description.ts";
import type { App } from "../../src/http/app.ts";
import { Answer, type HttpRequest, isStream } from "../../src/wire/message.ts";
import { checkedFeed } from "./checked-feed.ts";
import { differences, type SeenAnswer } from "./described-answers.ts";

/** Larger bodies are not checked, because some tests fetch long lists a thousand times. */
const bodyBytesMax = 32 * 1024;

/** The beginning of the message about an answer that is not described. */
export const undescribed = "an answer differs from the API's description";

/**
 * Makes an app check each of its answers. So the check also covers tests that use a socket, a browser or a client of
 * their own. An answer that is not described is treated as a defect of the app.
 */
export function checkAnswers(app: App): App {
  const { handle, refuse } = app;
  app.handle = function (this: App, request) {
    const answer = handle.call(this, request);
    return answer instanceof Promise ? answer.then((answer) => held(answer, request)) : held(answer, request);
  };
  app.refuse = function (this: App, refusal, request) {
    return held(refuse.call(this, refusal, request), request);
  };
  return app;
}

/** Like `fetch`, but also checks the answer. For a service that runs in another process. */
export async function checkedFetch(url: string | URL, init: BunFetchRequestInit = {}): Promise<Response> {
  const response = await fetch(url, init);
  const { status, headers } = response;
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const isEncoded = init.decompress === false && headers.has("content-encoding");
  const isUnread = isStream || isEncoded || init.method === "HEAD";
  const text = isUnread ? undefined : await response.clone().text();
  const body = text !== undefined && text.length <= bodyBytesMax ? text : undefined;
  hold({ method: init.method ?? "GET", path: new URL(url).pathname, status, headers, body });
  return response;
}

function held(answer: Answer, request: HttpRequest | undefined): Answer {
  const { status } = answer;
  // If the input is not a valid request, it has neither a method nor a path.
  const { method = "", path = "" } = request ?? {};
  hold({ method, path, status, headers: new Headers(answer.headers), body: bodyText(answer) });
  return withCheckedFeed(answer);
}

function withCheckedFeed(answer: Answer): Answer {
  const { status, headers, body } = answer;
  if (!headers["Content-Type"]?.startsWith("text/event-stream") || !isStream(body)) return answer;
  return new Answer(status, headers, checkedFeed(body, completeDescription, refuse), answer);
}

function bodyText({ body, headers }: Answer): string | undefined {
  if (body === undefined || typeof body === "string") return body ?? "";
  if (headers["Content-Encoding"] !== undefined) return undefined;
  if (body instanceof Uint8Array) return body.length > bodyBytesMax ? undefined : Buffer.from(body).toString();
  // `instanceof` would not work if the app is another build, because the class of its bodies is not the one known here.
  if (!("pieces" in body) || body.byteLength > bodyBytesMax) return undefined;
  return Buffer.concat(body.pieces.map(({ bytes }) => bytes)).toString();
}

function hold(seen: SeenAnswer): void {
  const found = differences(completeDescription, seen);
  if (found.length > 0) refuse(found.join("\n"));
}

function refuse(found: string): never {
  throw new Error(`${undescribed}:\n${found}`);
}
