// Headers shared by many answers.

import type { AnswerHeaders } from "../wire/message.ts";
import type { ListMode } from "./routes.ts";

/** Keeps browsers from guessing the media type. Otherwise they could treat an item that looks like HTML as a page. */
export const nosniff = { "X-Content-Type-Options": "nosniff" };

/** The charset is not in quotes, because at least one client in use cannot handle a quoted charset. */
export const jsonHeaders = { "Content-Type": "application/json; charset=utf-8", ...nosniff };

/** Finishes the headers of an answer with items. If each user has their own, the answer is for one of them alone. */
export function itemCaching(lists: ListMode): typeof forOneUser {
  return lists === "user" ? forOneUser : (headers) => headers;
}

/** Keeps caches from giving an answer to another user. */
export function forOneUser<Headers extends AnswerHeaders>(headers: Headers): Headers {
  const { "Cache-Control": cacheControl = "no-cache", Vary } = headers;
  return {
    ...headers,
    // An answer that nobody may store is stricter already.
    "Cache-Control": cacheControl === "no-store" ? cacheControl : `private, ${cacheControl}`,
    Vary: Vary === undefined ? "Authorization" : `Authorization, ${Vary}`,
  };
}

/** Leads programs to the API's description, and people to its reference (RFC 8631). */
export const serviceLinks = { Link: '</openapi.json>; rel="service-desc", </docs>; rel="service-doc"' };
