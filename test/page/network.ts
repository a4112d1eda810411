// A simulated network between a client and a service in this process. A test can interrupt it or lose an answer.

import { type Credentials, jsonText, TodoClient } from "../../src/client/index.ts";
import type { Service } from "../service.ts";

export class Network {
  readonly #service: Service;
  /** Every request that reached the service, such as `PUT /api/todoitems/`. */
  readonly requests: string[] = [];
  /** The same requests with their answers, such as `/changes?since=… 304`. Tokens are left out. */
  readonly exchanges: string[] = [];
  /** "down" fails every request, "lossy" loses the answers, and a number is a status that replaces every answer. */
  state: "up" | "down" | "lossy" | number = "up";
  /** The answers to writes wait for this promise, if there is one. */
  answersAfter: Promise<void> | undefined;

  constructor(service: Service) {
    this.#service = service;
  }

  connect(credentials?: Credentials): TodoClient<string> {
    return new TodoClient("http://localhost/", {
      codec: jsonText,
      retry: { limit: 0 },
      fetch: this.fetch,
      credentials,
    });
  }

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const { state } = this;
    if (state === "down") throw new TypeError("the network is down");
    if (typeof state === "number") return new Response(null, { status: state });
    const { pathname, search } = new URL(url);
    const method = init.method ?? "GET";
    this.requests.push(`${method} ${pathname}`);
    const response = await this.#service.fetch(method, pathname + search, init);
    const type = response.headers.get("content-type") === "text/event-stream; charset=utf-8" ? " events" : "";
    this.exchanges.push(`${pathname}${search.replace(/=.*/, "=…")} ${response.status}${type}`);
    if (method !== "GET") await this.answersAfter;
    if (state === "lossy") throw new TypeError("the answer was lost");
    const { body, status, headers } = response;
    // Aborting a request also ends its answer, as it would with a real socket.
    const signal = init.signal ?? undefined;
    return new Response(body?.pipeThrough(new TransformStream(), { ...(signal && { signal }) }), { status, headers });
  };
}
