// A simulated network between a client and a service in this process. A test can interrupt it or lose an answer.

import { type Credentials, jsonText, TodoClient } from "../../src/client/index.ts";
import type { Service } from "../service.ts";

export class Network {
  /** The service that answers. A test can replace it. */
  service: Service;
  /** Every request that reached the service, such as `PUT /api/todoitems/`. */
  readonly requests: string[] = [];
  /**
   * The path and the status of each answer to these requests, such as `/changes?since=… 304`. The value in the query is
   * left out. If the answer is a change feed, the text ends with `events`.
   */
  readonly exchanges: string[] = [];
  /**
   * The state of the network. "down" fails every request. "lossy" passes requests on but loses the answers. If it is a
   * number, every request is answered with this status and does not reach the service.
   */
  state: "up" | "down" | "lossy" | number = "up";
  /** The answers to writes wait for this promise, if there is one. */
  answersAfter: Promise<void> | undefined;
  /** The change feeds wait for this promise, if there is one. */
  feedsAfter: Promise<void> | undefined;
  #feeds = new AbortController();

  constructor(service: Service) {
    this.service = service;
  }

  connect(credentials?: Credentials): TodoClient<string> {
    return new TodoClient("http://localhost/", {
      codec: jsonText,
      retry: { limit: 0 },
      fetch: this.fetch,
      credentials,
    });
  }

  /** Breaks the connection of every open change feed. */
  breakFeeds(): void {
    this.#feeds.abort();
    this.#feeds = new AbortController();
  }

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const { state } = this;
    if (state === "down") throw new TypeError("the network is down");
    if (typeof state === "number") return new Response(null, { status: state });
    const { pathname, search } = new URL(url);
    const method = init.method ?? "GET";
    this.requests.push(`${method} ${pathname}`);
    const response = await this.service.fetch(method, pathname + search, init);
    const isFeed = response.headers.get("content-type") === "text/event-stream; charset=utf-8";
    this.exchanges.push(`${pathname}${search.replace(/=.*/, "=…")} ${response.status}${isFeed ? " events" : ""}`);
    await (isFeed ? this.feedsAfter : method === "GET" ? undefined : this.answersAfter);
    if (state === "lossy") throw new TypeError("the answer was lost");
    const { body, status, headers } = response;
    // Aborting a request also ends its answer, as it would with a real socket.
    const signal = AbortSignal.any([...(init.signal ? [init.signal] : []), ...(isFeed ? [this.#feeds.signal] : [])]);
    return new Response(body?.pipeThrough(new TransformStream(), { signal }), { status, headers });
  };
}
