// The service without its sockets: a request comes in, an answer goes out. Each operation reads the
// request, lets the collection decide, and turns the outcome into a status code.

import { type Bookmark, StoreError } from "../collection/engine.ts";
import type { ItemState } from "../collection/item-list.ts";
import type { TodoCollection } from "../collection/todo-collection.ts";
import type { WriteOutcome } from "../collection/write-rules.ts";
import type { FieldNames } from "../items/field-names.ts";
import { checkAgainstPath, identify, parsePathId, parseTodoItem, type TodoItemDraft } from "../items/todo-item.ts";
import { Answer, type HttpRequest } from "../wire/message.ts";
import type { Refusal } from "../wire/refusal.ts";
import type { Access } from "./access.ts";
import { checkMediaType, decodeBody } from "./body.ts";
import { ChangeFeed } from "./change-feed.ts";
import { clientHas, clientMeans, entityTag, writeCondition } from "./conditions.ts";
import type { Cors } from "./cors.ts";
import { describeError, type Log } from "./log.ts";
import { nosniff, Problem, problemAnswer, problemFrom } from "./problem.ts";
import { allowedMethods, type ItemRoute, matchRoute, type Route, type UrlForms } from "./routes.ts";
import { type Site, siteAnswer, siteMethods } from "./site.ts";

export interface AppOptions {
  readonly access: Access;
  /** Not there where web pages of other origins have no access. */
  readonly cors: Cors | undefined;
  /** Files served beside the API, if any. */
  readonly site: Site | undefined;
  readonly forms: UrlForms;
  readonly fieldNames: FieldNames;
  readonly bodyBytesMax: number;
  readonly nestingDepthMax: number;
  /** How old a list may be that is sent while the store is away. */
  readonly staleSecondsMax: number;
  /** How often a silent change feed says that it is alive. */
  readonly heartbeatMs: number;
  readonly log: Log;
}

const jsonHeaders = { "Content-Type": "application/json; charset=utf-8", ...nosniff };

/** The specification's client stops reading a response here (Limits, note 2). */
const clientBufferBytes = 256_000;

export class App {
  readonly #collection: TodoCollection;
  readonly #options: AppOptions;
  readonly changeFeed: ChangeFeed;
  /** The list as it was last sent. */
  #list: (Bookmark & { readonly etag: string; readonly answer: Answer; readonly notModified: Answer }) | undefined;
  #warnedOfListSize = false;

  constructor(collection: TodoCollection, options: AppOptions) {
    this.#collection = collection;
    this.#options = options;
    this.changeFeed = new ChangeFeed(collection, options);
  }

  /** Answers every request; never throws. */
  handle(request: HttpRequest): Answer | Promise<Answer> {
    const answer = this.#answer(request);
    const { cors } = this.#options;
    if (!cors) return answer;
    return answer instanceof Promise
      ? answer.then((answer) => cors.open(request.headers, answer))
      : cors.open(request.headers, answer);
  }

  /** The answer to a request that was refused before it got here; there is no request if it could not be read. */
  refuse(refusal: Refusal, request?: HttpRequest): Answer {
    const answer = this.#refuse(refusal);
    return this.#options.cors?.open(request?.headers, answer) ?? answer;
  }

  #answer(request: HttpRequest): Answer | Promise<Answer> {
    try {
      const answer = this.#dispatch(request);
      return answer instanceof Promise ? answer.catch((error) => this.#refuse(error)) : answer;
    } catch (error) {
      return this.#refuse(error);
    }
  }

  // First match answers: route, method, credentials, rate, size, media type, body, existence and
  // conflict, condition.
  #dispatch(request: HttpRequest): Answer | Promise<Answer> {
    const route = matchRoute(request.path);
    if (!route) return this.#file(request);
    const allowed = allowedMethods(route.resource, this.#options.forms);
    const preflight = this.#options.cors?.preflight(request, allowed);
    if (preflight) return preflight;
    if (!allowed.includes(request.method)) return this.#methodNotAllowed(request.method, allowed);
    if (route.resource === "live") return health(200, "live");
    if (route.resource === "ready") return this.#ready();
    const admitted = this.#options.access.admit(request);
    return admitted ? admitted.then(() => this.#operate(request, route)) : this.#operate(request, route);
  }

  /** What is no route of the API is a file of the site, or nothing. */
  async #file(request: HttpRequest): Promise<Answer> {
    const file = await this.#options.site?.find(request.path);
    if (!file) throw new Problem("RouteNotFound", "No such route. To-do items are found under /api/todoitems/.");
    return siteMethods.includes(request.method)
      ? siteAnswer(request, file)
      : this.#methodNotAllowed(request.method, siteMethods);
  }

  #operate(request: HttpRequest, route: Route): Answer | Promise<Answer> {
    if (route.resource === "changes") return this.changeFeed.answer(request);
    if (request.method === "GET") return this.#get(request, route);
    if (request.method === "POST") return this.#create(request, route);
    if (request.method === "PUT") return this.#update(request, route);
    if (request.method === "DELETE" && route.resource === "item") return this.#delete(request, route);
    throw new Error(`${request.method} is allowed on the ${route.resource} but nothing answers it`);
  }

  #get(request: HttpRequest, route: Route): Answer | Promise<Answer> {
    const pathId = pathIdOf(route);
    const answer = () => (pathId === undefined ? this.#answerList(request) : this.#read(request, pathId));
    const refreshed = this.#collection.refresh(request.turn);
    return refreshed ? refreshed.then(answer, (error) => this.#answerStale(answer, error)) : answer();
  }

  /** While the store is away, what is in memory may do, if the operator says so, for a while and marked as old. */
  #answerStale(answer: () => Answer, error: unknown): Answer {
    const age = this.#collection.ageSeconds;
    if (!(error instanceof StoreError) || age > this.#options.staleSecondsMax) throw error;
    return answerOr(error, answer).with({ Age: String(Math.ceil(age)), Warning: '110 - "Response is Stale"' });
  }

  /** Asks the store, so that an instance nobody sends requests to comes back by itself. */
  async #ready(): Promise<Answer> {
    try {
      await this.#collection.refresh();
      return health(200, "ready");
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return health(503, "store unavailable");
    }
  }

  #answerList({ headers }: HttpRequest): Answer {
    const list = this.#presentList();
    if (!clientMeans(headers, list.etag)) return listChanged(list.etag);
    return clientHas(headers, list.etag) ? list.notModified : list.answer;
  }

  /** One and the same answer as long as nothing changes, so that whoever sends it need not make it ready again. */
  #presentList() {
    const { epoch, version } = this.#collection;
    if (this.#list?.version === version && this.#list.epoch === epoch) return this.#list;
    this.#warnOfListSize();
    const etag = this.#tag(version);
    const caching = { ETag: etag, "Cache-Control": "no-cache" };
    const answer = new Answer(200, { ...jsonHeaders, ...caching }, this.#collection.list(), { isStanding: true });
    const notModified = new Answer(304, caching, undefined, { isStanding: true });
    this.#list = { epoch, version, etag, answer, notModified };
    return this.#list;
  }

  #read(request: HttpRequest, id: string): Answer {
    const item = this.#collection.read(id);
    if (!item) throw recordNotFound(id);
    const etag = this.#tag(item.version);
    if (!clientMeans(request.headers, etag)) return this.#preconditionFailed(item);
    if (clientHas(request.headers, etag)) return notModified(etag);
    return new Answer(200, { ...jsonHeaders, ETag: etag, "Cache-Control": "no-cache" }, item.json);
  }

  async #create(request: HttpRequest, route: Route): Promise<Answer> {
    const draft = await this.#readDraft(request);
    const item = identify(draft, pathIdOf(route), true);
    const outcome = await this.#collection.write({ kind: "create", item });
    if (outcome.kind !== "done") return this.#notDone(outcome, item.id);
    const headers = { ...jsonHeaders, ETag: this.#tagOfWrite(outcome), Location: `/api/todoitems/${item.id}` };
    return new Answer(201, headers, this.#collection.render(item.json));
  }

  async #update(request: HttpRequest, route: Route): Promise<Answer> {
    const draft = await this.#readDraft(request);
    const item = identify(draft, pathIdOf(route), false);
    const outcome = await this.#collection.write({ kind: "update", item, condition: this.#condition(request) });
    if (outcome.kind !== "done") return this.#notDone(outcome, item.id);
    return new Answer(204, { ETag: this.#tagOfWrite(outcome) });
  }

  async #delete(request: HttpRequest, route: ItemRoute): Promise<Answer> {
    const draft = await this.#readOptionalDraft(request);
    const id = parsePathId(route.segment);
    if (draft) checkAgainstPath(draft, id);
    const outcome = await this.#collection.write({ kind: "delete", id, condition: this.#condition(request) });
    if (outcome.kind !== "done") return this.#notDone(outcome, id);
    return new Answer(204, {});
  }

  async #readDraft(request: HttpRequest): Promise<TodoItemDraft> {
    const bytes = await request.readBody(this.#options.bodyBytesMax);
    checkMediaType(request.headers.get("content-type"));
    return parseTodoItem(decodeBody(bytes, request.headers), this.#options.nestingDepthMax);
  }

  /** Form A lists a JSON TodoItem as DELETE's parameter, form B none; real clients send any Content-Type, or none. */
  async #readOptionalDraft(request: HttpRequest): Promise<TodoItemDraft | undefined> {
    const bytes = await request.readBody(this.#options.bodyBytesMax);
    if (bytes.byteLength === 0) return undefined;
    return parseTodoItem(decodeBody(bytes, request.headers), this.#options.nestingDepthMax);
  }

  #condition(request: HttpRequest) {
    return writeCondition(request.headers, (version) => this.#tag(version));
  }

  #notDone(outcome: Exclude<WriteOutcome, { kind: "done" }>, id: string): Answer {
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

  #preconditionFailed({ version, json }: ItemState): Answer {
    const detail =
      "The item is not in the state the request's condition names. Its present state is in `current`; merge with it and send the request again with the ETag of this answer.";
    return problemAnswer(new Problem("PreconditionFailed", detail), { ETag: this.#tag(version) }, json);
  }

  #methodNotAllowed(method: string, allowed: readonly string[]): Answer {
    const detail = `${method} is not offered here. Offered: ${allowed.join(", ")}.`;
    return problemAnswer(new Problem("MethodNotAllowed", detail), { Allow: allowed.join(", ") });
  }

  #refuse(error: unknown): Answer {
    const problem = problemFrom(error);
    if (problem) return problemAnswer(problem);
    this.#options.log("error", describeError(error));
    return problemAnswer(
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
function answerOr(error: StoreError, answer: () => Answer): Answer {
  try {
    return answer();
  } catch (problem) {
    throw problem instanceof Problem ? error : problem;
  }
}

function health(status: number, state: string): Answer {
  return new Answer(status, { ...jsonHeaders, "Cache-Control": "no-store" }, JSON.stringify({ status: state }));
}

function pathIdOf(route: Route): string | undefined {
  return route.resource === "item" ? parsePathId(route.segment) : undefined;
}

function recordNotFound(id: string): Problem {
  return new Problem("RecordNotFound", `There is no item with ID ${id}. List the items to see which there are.`);
}

function notModified(etag: string): Answer {
  return new Answer(304, { ETag: etag, "Cache-Control": "no-cache" });
}

function listChanged(etag: string): Answer {
  return problemAnswer(
    new Problem(
      "PreconditionFailed",
      "The list is not in the state that If-Match names. Leave If-Match out to read it as it is.",
    ),
    { ETag: etag },
  );
}
