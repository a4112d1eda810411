// Counts the requests of each method, route and status, and how long they took. The name and the labels are those of
// OpenTelemetry's conventions for HTTP servers.

import type { Answer, Handler, HttpRequest } from "../../wire/message.ts";
import { type ListMode, matchRoute } from "../routes.ts";
import { Histogram, histogram, secondBounds } from "./metric.ts";

/** Any other method is counted as `_OTHER`. Otherwise clients could create an unlimited number of labels. */
const methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"];

export class RequestMetrics {
  /** The times of the requests, by their labels. */
  readonly #seconds = new Map<string, Histogram>();

  /** Wraps a handler so that each of its answers is counted. */
  counting(handler: Handler, lists: ListMode): Handler {
    return {
      handle: (request) => {
        const startedAt = performance.now();
        const count = (answer: Answer) => {
          this.#add(request, lists, answer.status, performance.now() - startedAt);
          return answer;
        };
        const answer = handler.handle(request);
        return answer instanceof Promise ? answer.then(count) : count(answer);
      },
      refuse: (refusal, request) => {
        const answer = handler.refuse(refusal, request);
        this.#add(request, lists, answer.status, 0);
        return answer;
      },
    };
  }

  text(): string {
    const help =
      "Time from the end of a request's headers until its response could be sent. A change feed counts until it is open.";
    return histogram("http_server_request_duration_seconds", help, this.#seconds);
  }

  /** `request` is undefined for input that could not be read as a request. */
  #add(request: HttpRequest | undefined, lists: ListMode, status: number, ms: number): void {
    const method = request && methods.includes(request.method) ? request.method : "_OTHER";
    const route = request ? routeOf(request.path, lists) : "";
    const labels = `http_request_method="${method}",http_route="${route}",http_response_status_code="${status}"`;
    const seconds = this.#seconds.get(labels) ?? new Histogram(secondBounds);
    this.#seconds.set(labels, seconds);
    seconds.add(ms / 1_000);
  }
}

const routeNames = {
  collection: "/api/todoitems",
  item: "/api/todoitems/{id}",
  lists: "/lists",
  live: "/health/live",
  ready: "/health/ready",
} as const;

/** The template of a path. The page, its files, the API's description and everything that is not found are `/{file}`. */
function routeOf(path: string, lists: ListMode): string {
  const route = matchRoute(path, lists);
  if (!route || route.resource === "page") return "/{file}";
  const list = "list" in route && route.list !== "" ? "/lists/{list}" : "";
  if (route.resource !== "changes") return list + routeNames[route.resource];
  return `${list}/changes${route.wanted === undefined ? "" : `/${route.wanted}`}`;
}
