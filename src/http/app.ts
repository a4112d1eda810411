// The service without its sockets: a request comes in, an answer goes out. Each operation reads the
// request, lets the collection decide, and turns the outcome into a status code.

import { StoreError } from "../engine.ts";
import type { FieldNames } from "../field-names.ts";
import { describeError, type Log } from "../log.ts";
import { Problem } from "../problem.ts";
import type { ItemState, TodoCollection, WriteOutcome } from "../todo-collection.ts";
import { checkAgainstPath, identify, parsePathId, parseTodoItem, type TodoItemDraft } from "../todo-item.ts";
import type { Access } from "./access.ts";
import { type BodyLimits, checkMediaType, decodeBody, readBody } from "./body.ts";
import { ChangeFeed } from "./change-feed.ts";
import { clientHas, clientMeans, entityTag, writeCondition } from "./conditions.ts";
import type { Cors } from "./cors.ts";
import { checkHeaders, runtimeHeaderBytesMax } from "./header-limit.ts";
import { HotList } from "./hot-list.ts";
import { nosniff, problemResponse } from "./problem.ts";
import { allowedMethods, checkHost, type ItemRoute, matchRoute, pathOf, type Route, type UrlForms } from "./routes.ts";
import { type Site, siteAnswer, siteMethods } from "./site.ts";

export interface AppOptions extends BodyLimits {
  readonly access: Access;
  /** Not there where web pages of other origins have no access. */
  readonly cors: Cors | undefined;
  /** Files served beside the API, if any. */
  readonly site: Site | undefined;
  readonly forms: UrlForms;
  readonly fieldNames: FieldNames;
  readonly nestingDepthMax: number;
  readonly headerBytesMax: number;
  /** How old a list may be that is sent while the store is away. */
  readonly staleSecondsMax: number;
  /** How often a silent change feed says that it is alive. */
  readonly heartbeatMs: number;
  readonly log: Log;
  /** Whether a list that many ask for may be left to the runtime. */
  readonly servesHotList: boolean;
}

const jsonHeaders = { "Content-Type": "application/json; charset=utf-8", ...nosniff };

/** The specification's client stops reading a response here (Limits, note 2). */
const clientBufferBytes = 256_000;

export class App {
  readonly #collection: TodoCollection;
  readonly #options: AppOptions;
  readonly changeFeed: ChangeFeed;
  /** Not there where holding the collection still would keep others waiting. */
  readonly hotList: HotList | undefined;
  #warnedOfListSize = false;

  constructor(collection: TodoCollection, options: AppOptions) {
    this.#collection = collection;
    this.#options = options;
    this.changeFeed = new ChangeFeed(collection, options);
    this.hotList = options.servesHotList ? new HotList(collection) : undefined;
  }

  /** Whether a list need not pass through the app, to be admitted or to be told apart. */
  get listsAreAlike(): boolean {
    const { access, cors } = this.#options;
    return access.admitsEveryList && !cors && !limitsHeaders(this.#options);
  }

  /** Answers every request; never throws. Asks for the sender's address only where it matters. */
  handle(request: Request, addressOf: (request: Request) => string): Response | Promise<Response> {
    const answer = this.#answer(request, addressOf);
    const { cors } = this.#options;
    if (!cors) return answer;
    return answer instanceof Promise
      ? answer.then((response) => cors.open(request, response))
      : cors.open(request, answer);
  }

  /** Answers with a problem that was found before the app was asked. */
  refuse(request: Request, problem: Problem): Response {
    const response = problemResponse(problem);
    return this.#options.cors?.open(request, response) ?? response;
  }

  #answer(request: Request, addressOf: (request: Request) => string): Response | Promise<Response> {
    try {
      const answer = this.#dispatch(request, addressOf);
      return answer instanceof Promise ? answer.catch((error) => this.#refuse(error)) : answer;
    } catch (error) {
      return this.#refuse(error);
    }
  }

  // First match answers: route, method, credentials, rate, size, media type, body, existence and
  // conflict, condition.
  #dispatch(request: Request, addressOf: (request: Request) => string): Response | Promise<Response> {
    checkHost(request);
    if (limitsHeaders(this.#options)) checkHeaders(request, this.#options.headerBytesMax);
    const route = matchRoute(request.url);
    if (!route) return this.#file(request);
    const allowed = allowedMethods(route.resource, this.#options.forms);
    const preflight = this.#options.cors?.preflight(request, allowed);
    if (preflight) return preflight;
    if (!allowed.includes(request.method)) return this.#methodNotAllowed(request.method, allowed);
    if (route.resource === "live") return health(200, "live");
    if (route.resource === "ready") return this.#ready();
    const admitted = this.#options.access.admit(request, addressOf);
    return admitted ? admitted.then(() => this.#operate(request, route)) : this.#operate(request, route);
  }

  /** What is no route of the API is a file of the site, or nothing. */
  async #file(request: Request): Promise<Response> {
    const file = await this.#options.site?.find(pathOf(request.url));
    if (!file) throw new Problem("RouteNotFound", "No such route. To-do items are found under /api/todoitems/.");
    return siteMethods.includes(request.method)
      ? siteAnswer(request, file)
      : this.#methodNotAllowed(request.method, siteMethods);
  }

  #operate(request: Request, route: Route): Response | Promise<Response> {
    if (route.resource === "changes") return this.changeFeed.answer(request);
    if (request.method === "GET") return this.#get(request, route);
    if (request.method === "POST") return this.#create(request, route);
    if (request.method === "PUT") return this.#update(request, route);
    if (request.method === "DELETE" && route.resource === "item") return this.#delete(request, route);
    throw new Error(`${request.method} is allowed on the ${route.resource} but nothing answers it`);
  }

  #get(request: Request, route: Route): Response | Promise<Response> {
    const pathId = pathIdOf(route);
    const answer = () => (pathId === undefined ? this.#list(request) : this.#read(request, pathId));
    const refreshed = this.#collection.refresh();
    return refreshed ? refreshed.then(answer, (error) => this.#answerStale(answer, error)) : answer();
  }

  /** While the store is away, what is in memory may do, if the operator says so, for a while and marked as old. */
  #answerStale(answer: () => Response, error: unknown): Response {
    const age = this.#collection.ageSeconds;
    if (!(error instanceof StoreError) || age > this.#options.staleSecondsMax) throw error;
    const response = answerOr(error, answer);
    response.headers.set("Age", String(Math.ceil(age)));
    response.headers.set("Warning", '110 - "Response is Stale"');
    return response;
  }

  /** Asks the store, so that an instance nobody sends requests to comes back by itself. */
  async #ready(): Promise<Response> {
    try {
      await this.#collection.refresh();
      return health(200, "ready");
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return health(503, "store unavailable");
    }
  }

  #list(request: Request): Response {
    const etag = this.#tag(this.#collection.version);
    if (!clientMeans(request.headers, etag)) return listChanged(etag);
    this.#warnOfListSize();
    const answer = () =>
      new Response(this.#collection.list(), { headers: { ...jsonHeaders, ETag: etag, "Cache-Control": "no-cache" } });
    this.hotList?.listed(answer);
    return clientHas(request.headers, etag) ? notModified(etag) : answer();
  }

  #read(request: Request, id: string): Response {
    const item = this.#collection.read(id);
    if (!item) throw recordNotFound(id);
    const etag = this.#tag(item.version);
    if (!clientMeans(request.headers, etag)) return this.#preconditionFailed(item);
    if (clientHas(request.headers, etag)) return notModified(etag);
    return new Response(item.json, { headers: { ...jsonHeaders, ETag: etag, "Cache-Control": "no-cache" } });
  }

  async #create(request: Request, route: Route): Promise<Response> {
    const draft = await this.#readDraft(request);
    const item = identify(draft, pathIdOf(route), true);
    const outcome = await this.#collection.write({ kind: "create", item });
    if (outcome.kind !== "done") return this.#notDone(outcome, item.id);
    return new Response(this.#collection.render(item.json), {
      status: 201,
      headers: { ...jsonHeaders, ETag: this.#tagOfWrite(outcome), Location: `/api/todoitems/${item.id}` },
    });
  }

  async #update(request: Request, route: Route): Promise<Response> {
    const draft = await this.#readDraft(request);
    const item = identify(draft, pathIdOf(route), false);
    const outcome = await this.#collection.write({ kind: "update", item, condition: this.#condition(request) });
    if (outcome.kind !== "done") return this.#notDone(outcome, item.id);
    return new Response(null, { status: 204, headers: { ETag: this.#tagOfWrite(outcome) } });
  }

  async #delete(request: Request, route: ItemRoute): Promise<Response> {
    const draft = await this.#readOptionalDraft(request);
    const id = parsePathId(route.segment);
    if (draft) checkAgainstPath(draft, id);
    const outcome = await this.#collection.write({ kind: "delete", id, condition: this.#condition(request) });
    if (outcome.kind !== "done") return this.#notDone(outcome, id);
    return new Response(null, { status: 204 });
  }

  async #readDraft(request: Request): Promise<TodoItemDraft> {
    const bytes = await readBody(request, this.#options);
    checkMediaType(request.headers.get("content-type"));
    return parseTodoItem(decodeBody(bytes, request.headers), this.#options.nestingDepthMax);
  }

  /** Form A lists a JSON TodoItem as DELETE's parameter, form B none; real clients send any Content-Type, or none. */
  async #readOptionalDraft(request: Request): Promise<TodoItemDraft | undefined> {
    const bytes = await readBody(request, this.#options);
    if (bytes.byteLength === 0) return undefined;
    return parseTodoItem(decodeBody(bytes, request.headers), this.#options.nestingDepthMax);
  }

  #condition(request: Request) {
    return writeCondition(request.headers, (version) => this.#tag(version));
  }

  #notDone(outcome: Exclude<WriteOutcome, { kind: "done" }>, id: string): Response {
    switch (outcome.kind) {
      case "id-in-use":
        throw new Problem(
          "TodoItemIDInUse",
          `An item with ID ${id} already exists. Update it with PUT, or create yours with another ID.`,
        );
      case "not-found":
        throw recordNotFound(id);
      case "condition-failed":
        return this.#preconditionFailed(outcome.current);
    }
  }

  #preconditionFailed({ version, json }: ItemState): Response {
    const detail =
      "The item is not in the state the request's condition names. Its present state is in `current`; merge with it and send the request again with the ETag of this answer.";
    return problemResponse(new Problem("PreconditionFailed", detail), { ETag: this.#tag(version) }, json);
  }

  #methodNotAllowed(method: string, allowed: readonly string[]): Response {
    const detail = `${method} is not offered here. Offered: ${allowed.join(", ")}.`;
    return problemResponse(new Problem("MethodNotAllowed", detail), { Allow: allowed.join(", ") });
  }

  #refuse(error: unknown): Response {
    if (error instanceof Problem) return problemResponse(error);
    if (error instanceof StoreError) {
      return problemResponse(
        new Problem("StoreUnavailable", "The store cannot be read at present. Send the request again shortly."),
      );
    }
    this.#options.log("error", describeError(error));
    return problemResponse(
      new Problem("InternalError", "The service failed to answer this request. The failure is in its log."),
    );
  }

  #tag(version: number): string {
    return entityTag(this.#collection.epoch, version, this.#options.fieldNames);
  }

  /** The tag of a state that was never stored must not match one that will be. */
  #tagOfWrite({ version, kept }: Extract<WriteOutcome, { kind: "done" }>): string {
    const tag = this.#tag(version);
    return kept ? tag : `${tag.slice(0, -1)}-not-kept"`;
  }

  #warnOfListSize(): void {
    if (this.#warnedOfListSize || this.#collection.listBytes <= clientBufferBytes) return;
    this.#warnedOfListSize = true;
    this.#options.log(
      "warn",
      `The list has passed ${clientBufferBytes} bytes: a client that keeps the tutorial's MaxResponseContentBufferSize stops reading it. Raise that limit in the client.`,
      { listBytes: this.#collection.listBytes },
    );
  }
}

/** What is not in memory may be in the store, so not to find it is no answer. */
function answerOr(error: StoreError, answer: () => Response): Response {
  try {
    return answer();
  } catch (problem) {
    throw problem instanceof Problem ? error : problem;
  }
}

function health(status: number, state: string): Response {
  return new Response(JSON.stringify({ status: state }), {
    status,
    headers: { ...jsonHeaders, "Cache-Control": "no-store" },
  });
}

function limitsHeaders({ headerBytesMax }: AppOptions): boolean {
  return headerBytesMax < runtimeHeaderBytesMax;
}

function pathIdOf(route: Route): string | undefined {
  return route.resource === "item" ? parsePathId(route.segment) : undefined;
}

function recordNotFound(id: string): Problem {
  return new Problem("RecordNotFound", `There is no item with ID ${id}. List the items to see which there are.`);
}

function notModified(etag: string): Response {
  return new Response(null, { status: 304, headers: { ETag: etag, "Cache-Control": "no-cache" } });
}

function listChanged(etag: string): Response {
  return problemResponse(
    new Problem(
      "PreconditionFailed",
      "The list is not in the state that If-Match names. Leave If-Match out to read it as it is.",
    ),
    { ETag: etag },
  );
}
