// Counts the requests of each method, route and status, and how long they took.

import { matchRoute } from "../http/routes.ts";
import type { Handler, HttpRequest } from "../wire/message.ts";
import { Histogram, secondBounds } from "./histogram.ts";
import { histogram, type Metric } from "./metric.ts";

// The name and the labels are those of OpenTelemetry's conventions for HTTP servers.
const name = "http_server_request_duration_seconds";
const help =
  "Time from the moment a request's head was complete until its answer could be sent. A change feed counts until it is open.";

/**
 * The first name stands for every method that is not listed. Otherwise clients could create an unlimited number of
 * labels.
 */
const methods = ["_OTHER", "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"];

const routes = [
  "/api/todoitems",
  "/api/todoitems/{id}",
  "/changes",
  "/changes/events",
  "/changes/delta",
  "/health/live",
  "/health/ready",
  // The page, its files, the API's description, and everything that is not found.
  "/{file}",
  // Input that could not be read as a request.
  "",
] as const;
type Route = (typeof routes)[number];

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly seconds: Histogram;
}

export class RequestMetrics {
  readonly #series = new Map<number, Series>();
  /** The series of the last request. Most requests are like the one before, so `#series` is rarely searched. */
  #last: Series | undefined;
  #lastPath = "";
  #lastMethod = "";
  #lastStatus = 0;

  /** Wraps a handler so that each of its answers is counted. */
  counting(handler: Handler): Handler {
    return {
      handle: (request) => {
        const startedAt = performance.now();
        const answer = handler.handle(request);
        if (answer instanceof Promise) {
          return answer.then((answer) => {
            this.#add(request, answer.status, performance.now() - startedAt);
            return answer;
          });
        }
        this.#add(request, answer.status, performance.now() - startedAt);
        return answer;
      },
      refuse: (refusal, request) => {
        const answer = handler.refuse(refusal, request);
        this.#seriesOf(request ? routeOf(request.path) : "", request?.method ?? "", answer.status).seconds.add(0);
        return answer;
      },
    };
  }

  metric(): Metric {
    const values = [...this.#series.values()].flatMap(({ labels, seconds }) => seconds.values(name, labels));
    return histogram(name, help, values);
  }

  #add(request: HttpRequest, status: number, ms: number): void {
    const { path, method } = request;
    if (!this.#last || status !== this.#lastStatus || method !== this.#lastMethod || path !== this.#lastPath) {
      this.#last = this.#seriesOf(routeOf(path), method, status);
      this.#lastPath = path;
      this.#lastMethod = method;
      this.#lastStatus = status;
    }
    this.#last.seconds.add(ms / 1_000);
  }

  #seriesOf(routeName: Route, methodName: string, status: number): Series {
    const route = routes.indexOf(routeName);
    const method = Math.max(0, methods.indexOf(methodName));
    // A series is found by a number. Building a text for every request would cost more than the counting itself.
    const key = (route * methods.length + method) * 1_000 + status;
    let series = this.#series.get(key);
    if (!series) {
      const labels = {
        http_request_method: methods[method] ?? "",
        http_route: routes[route] ?? "",
        http_response_status_code: String(status),
      };
      series = { labels, seconds: new Histogram(secondBounds) };
      this.#series.set(key, series);
    }
    return series;
  }
}

function routeOf(path: string): Route {
  const route = matchRoute(path);
  switch (route?.resource) {
    case "collection":
      return "/api/todoitems";
    case "item":
      return "/api/todoitems/{id}";
    case "changes":
      return route.wanted === undefined ? "/changes" : `/changes/${route.wanted}`;
    case "live":
      return "/health/live";
    case "ready":
      return "/health/ready";
    case undefined:
      return "/{file}";
  }
}
