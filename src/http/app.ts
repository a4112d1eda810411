// The service without its sockets: it takes a request and returns an answer. The app finds the operation that a
// request asks for and checks that the client may use it. item-operations.ts carries out the operation.

import { type ListKey, listKey } from "../collection/list-key.ts";
import type { TodoStore } from "../collection/todo-store.ts";
import type { Answer, Handler, HttpRequest } from "../wire/message.ts";
import { Refusal } from "../wire/refusal.ts";
import type { Access } from "./access.ts";
import type { AllowedHosts } from "./allowed-hosts.ts";
import { ChangeFeed, type ChangeFeedOptions } from "./change-feed.ts";
import { Compression } from "./compression.ts";
import { type AllowedOrigins, Cors } from "./cors.ts";
import { Failures } from "./failures.ts";
import { healthAnswer, readyAnswer } from "./health.ts";
import { ItemOperations, type ItemOperationsOptions } from "./item-operations.ts";
import { listNamesFile } from "./list-names.ts";
import { Problem } from "./problem.ts";
import { requestIds } from "./request-id.ts";
import {
  allowedMethods,
  insteadOf,
  type ListMode,
  type ListRoute,
  matchRoute,
  type Route,
  type UrlForms,
} from "./routes.ts";
import { hasEnded, type SignedIn } from "./signed-in.ts";
import { type Site, siteAnswer, siteMethods } from "./site.ts";

export interface AppOptions extends ItemOperationsOptions, Omit<ChangeFeedOptions, "cors"> {
  /** Whose web pages have access, besides the service's own. */
  readonly cors: AllowedOrigins | undefined;
  /** The names that are allowed in the `Host` header. Undefined if every name is allowed. */
  readonly hosts: AllowedHosts | undefined;
  readonly access: Access;
  /** The files served beside the API, if there are any. */
  readonly site: Site | undefined;
  readonly forms: UrlForms;
  readonly lists: ListMode;
}

/** What a request asks for, if its head passed every check. Only the rate of requests is checked each time. */
class Admitted {
  readonly route: ListRoute;
  readonly list: ListKey;
  readonly #signedIn: SignedIn | undefined;

  constructor(route: ListRoute, list: ListKey, signedIn: SignedIn | undefined) {
    this.route = route;
    this.list = list;
    this.#signedIn = signedIn;
  }

  get hasEnded(): boolean {
    return this.#signedIn !== undefined && hasEnded(this.#signedIn);
  }
}

export class App implements Handler {
  readonly #store: TodoStore;
  readonly #options: AppOptions;
  readonly #items: ItemOperations;
  readonly #cors: Cors;
  readonly #compression = new Compression();
  readonly #failures: Failures;
  readonly changeFeed: ChangeFeed;
  #isStopping = false;

  constructor(store: TodoStore, options: AppOptions) {
    this.#store = store;
    this.#options = options;
    this.#items = new ItemOperations(store, options);
    this.#cors = new Cors(options.cors, options.log);
    this.#failures = new Failures(options.log);
    this.changeFeed = new ChangeFeed(store, { ...options, cors: this.#cors });
  }

  /** Answers every request. It never throws. */
  handle(request: HttpRequest): Answer | Promise<Answer> {
    this.#cors.note(request.headers);
    const answer = this.#answer(request);
    return answer instanceof Promise
      ? answer.then((answer) => this.#prepared(request, answer))
      : this.#prepared(request, answer);
  }

  /** Compresses the answer if the client accepts that, and adds the headers that depend on the request. */
  #prepared({ headers }: HttpRequest, answer: Answer): Answer | Promise<Answer> {
    const ids = requestIds(headers);
    const compressed = this.#compression.apply(headers, answer);
    if (this.#cors.isOff && !ids) return compressed;
    const finish = (answer: Answer) => this.#cors.open(headers, ids ? answer.with(ids) : answer);
    return compressed instanceof Promise ? compressed.then(finish) : finish(compressed);
  }

  /** The answer to a request that was refused before it reached `handle`, or to input that is not a valid request. */
  refuse(refusal: Refusal, request?: HttpRequest): Answer {
    return this.#cors.open(request?.headers, this.#failed(refusal, request));
  }

  /**
   * From now on, the readiness check says that the service is about to stop, so that load balancers use other instances.
   * Everything else is answered as usual.
   */
  announceStop(): void {
    this.#isStopping = true;
  }

  #answer(request: HttpRequest): Answer | Promise<Answer> {
    try {
      const answer = this.#dispatch(request);
      return answer instanceof Promise ? answer.catch((error) => this.#failed(error, request)) : answer;
    } catch (error) {
      return this.#failed(error, request);
    }
  }

  #failed(error: unknown, request: HttpRequest | undefined): Answer {
    const isOverloaded = error instanceof Refusal && error.code === "Overloaded";
    // An overloaded service is still live: nobody should restart it.
    if (isOverloaded && request?.method === "GET" && request.path === "/health/live")
      return healthAnswer(200, "live", error);
    return this.#failures.answer(error, request);
  }

  #dispatch(request: HttpRequest): Answer | Promise<Answer> {
    const { remembered } = request;
    if (!(remembered instanceof Admitted) || remembered.hasEnded) return this.#admit(request);
    this.#options.access.limitRate(request);
    return this.#operate(request, remembered);
  }

  // The first check that fails decides the answer. The checks run in this order: host name, route, method, credentials,
  // rate, body size, media type, body, existence of the item (404 or 409), condition, room in the store.
  #admit(request: HttpRequest): Answer | Promise<Answer> {
    this.#options.hosts?.check(request.headers.get("host"));
    const route = matchRoute(request.path, this.#options.lists);
    if (!route || route.resource === "page") return this.#file(request, route?.depth);
    const allowed = allowedMethods(route.resource, this.#options.forms);
    const preflight = this.#cors.preflight(request, allowed);
    if (preflight) return this.#withoutBody(request, () => preflight);
    if (!allowed.includes(request.method)) throw this.#methodNotAllowed(request, allowed, route);
    if (route.resource === "live" || route.resource === "ready") return this.#health(request, route.resource);
    const admitted = this.#options.access.admit(request);
    const operate = (signedIn: SignedIn | undefined) => {
      const owner = this.#ownerOf(signedIn);
      if (!("list" in route)) return this.#lists(request, owner);
      const admitted = new Admitted(route, listKey(route.list, owner), signedIn);
      request.remembered = admitted;
      return this.#operate(request, admitted);
    };
    return admitted instanceof Promise ? admitted.then(operate) : operate(admitted);
  }

  /**
   * Answers a request whose path is not a route of the API but may be a file of the site. If there is a `pageDepth`, it
   * is the page of a list.
   */
  async #file(request: HttpRequest, pageDepth: number | undefined): Promise<Answer> {
    const file = await this.#options.site?.find(request, pageDepth);
    if (!file) throw new Problem("RouteNotFound", nothingHere[this.#options.lists === "one" ? "one" : "many"]);
    if (!siteMethods.includes(request.method)) throw this.#methodNotAllowed(request, siteMethods);
    this.#options.access.limitRate(request);
    return this.#withoutBody(request, () => siteAnswer(request, file));
  }

  #health(request: HttpRequest, resource: "live" | "ready"): Answer | Promise<Answer> {
    this.#options.access.limitRate(request);
    return this.#withoutBody(request, () => {
      if (resource === "live") return healthAnswer(200, "live");
      return this.#isStopping ? healthAnswer(503, "stopping") : readyAnswer(this.#store);
    });
  }

  /** Whose lists a request is about. Empty if lists belong to nobody. */
  #ownerOf(signedIn: SignedIn | undefined): string {
    if (this.#options.lists !== "user") return "";
    if (!signedIn) throw new Error("the lists of users need credentials for every operation");
    return signedIn.owner;
  }

  #lists(request: HttpRequest, owner: string): Answer | Promise<Answer> {
    const names = async () => listNamesFile(await this.#store.names(owner), owner !== "");
    return this.#withoutBody(request, async () => siteAnswer(request, await names()));
  }

  #operate(request: HttpRequest, { route, list }: Admitted): Answer | Promise<Answer> {
    if (route.resource === "changes")
      return this.#withoutBody(request, () => this.changeFeed.answer(request, list, route.wanted));
    if (request.method === "GET") return this.#withoutBody(request, () => this.#items.get(request, route, list));
    if (request.method === "POST") return this.#items.create(request, route, list);
    if (request.method === "PUT") return this.#items.update(request, route, list);
    if (request.method === "DELETE" && route.resource === "item") return this.#items.delete(request, route, list);
    throw new Error(`${request.method} is allowed on the ${route.resource} but nothing answers it`);
  }

  /**
   * Answers a request that needs no body. A body is read and ignored. So a body that is too large or malformed is
   * still refused.
   */
  #withoutBody(request: HttpRequest, answer: () => Answer | Promise<Answer>): Answer | Promise<Answer> {
    const body = request.readBody(this.#options.bodyBytesMax);
    return body instanceof Promise ? body.then(answer) : answer();
  }

  /** If web pages of other origins have no access, a preflight gets this answer, too. It says how to give them access. */
  #methodNotAllowed({ method, headers }: HttpRequest, allowed: readonly string[], route?: Route): Problem {
    const advice = method === "OPTIONS" ? this.#cors.advice(headers) : insteadOf(method, route, this.#options.forms);
    const Allow = allowed.join(", ");
    const detail = `${method} is not offered here. Offered: ${Allow}.${advice === undefined ? "" : ` ${advice}.`}`;
    return new Problem("MethodNotAllowed", detail, { headers: { Allow } });
  }
}

const nothingHere = {
  one: "There is nothing at this address. The to-do items are at /api/todoitems/.",
  many: "There is nothing at this address. The to-do items are at /api/todoitems/, and those of other lists at /lists/NAME/api/todoitems/. NAME has 1 to 64 letters, digits, hyphens, underscores or dots, begins with a letter or digit, and is not api.",
};
