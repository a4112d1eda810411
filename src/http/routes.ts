// Maps a URL path to a resource, and a resource to the methods it offers.

export const urlForms = ["both", "a", "b"] as const;
/**
 * Which paths the operations `create` and `update` accept. In form A, the path contains the ID. In form B, it does not.
 */
export type UrlForms = (typeof urlForms)[number];

export const listModes = ["one", "many", "user"] as const;
/** Whether there is one list, or more at `/lists/NAME/`, or all of these for each user. */
export type ListMode = (typeof listModes)[number];

export type Route = ListRoute | PageRoute | { readonly resource: "lists" | "live" | "ready" };

/** A resource of one list. */
export type ListRoute = CollectionRoute | ItemRoute | ChangesRoute;

interface InList {
  /** The name of the list. Empty for the root list, at the service's own address. */
  readonly list: string;
}

interface CollectionRoute extends InList {
  readonly resource: "collection";
}

export interface ItemRoute extends InList {
  readonly resource: "item";
  /** The ID from the path, decoded but not yet checked. */
  readonly segment: string;
}

interface ChangesRoute extends InList {
  readonly resource: "changes";
  /** The feed or the document of changes. Undefined if the request's `Accept` header decides. */
  readonly wanted: "events" | "delta" | undefined;
}

/** The page of a named list. */
interface PageRoute {
  readonly resource: "page";
  /** How many folders lead from the service's own address to this one. */
  readonly depth: number;
}

const usualPrefix = "/api/todoitems/";

export function matchRoute(path: string, lists: ListMode): Route | undefined {
  if (path === "/health/live") return { resource: "live" };
  if (path === "/health/ready") return { resource: "ready" };
  if (lists === "one" || path.startsWith("/api/")) return matchInList(path, "");
  const [first, below] = cut(path);
  if (first !== "lists" && decode(first).toLowerCase() !== "lists") return matchInList(path, "");
  const [name, rest] = cut(below);
  return matchLists(decode(name), rest);
}

/** The first segment of a path, and the rest, which begins with a slash if there is one. */
function cut(path: string): readonly [segment: string, rest: string] {
  const end = path.indexOf("/", 1);
  return end === -1 ? [path.slice(1), ""] : [path.slice(1, end), path.slice(end)];
}

/** Letter case counts, except that `api` is no name, because clients take it for the beginning of the API's paths. */
const listName = /^(?!api$)[a-z0-9][a-z0-9._-]{0,63}$/i;

/** Matches what follows /lists. */
function matchLists(name: string, rest: string): Route | undefined {
  if (name === "" && rest === "") return { resource: "lists" };
  if (!listName.test(name)) return undefined;
  // The page links to its files by relative addresses, so it matters whether there is a slash at the end.
  if (rest === "" || rest === "/") return { resource: "page", depth: 1 + rest.length };
  return matchInList(rest, name);
}

/** The address of a list, without a slash at the end, relative to the service's own address. */
export function listAddress({ list }: InList): string {
  return list === "" ? "" : `/lists/${list}`;
}

/**
 * Matches the template api/{controller}/{id}. The controller defaults to todoitems, and the ID is optional. It also
 * matches /changes, /changes/events and /changes/delta.
 */
function matchInList(path: string, list: string): Route | undefined {
  // Most clients use the spellings below. They are recognised first, because splitting a path costs a microsecond.
  if (path === usualPrefix || path === "/api/todoitems") return { resource: "collection", list };
  if (path.startsWith(usualPrefix) && path.indexOf("/", usualPrefix.length) === -1 && !path.includes("%"))
    return { resource: "item", list, segment: path.slice(usualPrefix.length) };
  const segments = path.slice(1).split("/");
  // A trailing slash is accepted, not redirected, because many clients turn a redirected POST into a GET and still
  // report success.
  if (segments.at(-1) === "") segments.pop();
  const [prefix, controller = "todoitems", segment, ...deeper] = segments.map(decode);
  if (prefix?.toLowerCase() === "changes") return matchChanges(segments.slice(1).join("/").toLowerCase(), list);
  if (prefix?.toLowerCase() !== "api" || controller.toLowerCase() !== "todoitems" || deeper.length > 0)
    return undefined;
  if (segment === undefined) return { resource: "collection", list };
  return segment === "" ? undefined : { resource: "item", list, segment };
}

function matchChanges(rest: string, list: string): ChangesRoute | undefined {
  if (rest === "") return { resource: "changes", list, wanted: undefined };
  return rest === "events" || rest === "delta" ? { resource: "changes", list, wanted: rest } : undefined;
}

const methods = {
  readOnly: ["GET"],
  collection: ["GET", "POST", "PUT"],
  item: ["GET", "POST", "PUT", "DELETE"],
  itemInFormB: ["GET", "DELETE"],
} as const;

/** The methods a resource offers, as the `Allow` header lists them. */
export function allowedMethods(resource: Route["resource"], forms: UrlForms): readonly string[] {
  if (resource === "collection") return forms === "a" ? methods.readOnly : methods.collection;
  if (resource === "item") return forms === "b" ? methods.itemInFormB : methods.item;
  return methods.readOnly;
}

/** What to send instead of a method that an address of items does not offer. Undefined if there is nothing like it. */
export function insteadOf(method: string, route: Route | undefined, forms: UrlForms): string | undefined {
  if (route?.resource !== "collection" && route?.resource !== "item") return undefined;
  if (!["POST", "PUT", "PATCH", "DELETE"].includes(method)) return undefined;
  const items = listAddress(route) + usualPrefix;
  const place = forms === "b" && method !== "DELETE" ? " with the ID in the body" : "{ID} with the ID in the path";
  return method === "PATCH"
    ? `Read the item, and send all of it with your change, and its ETag in If-Match: PUT ${items}${place}`
    : `Send ${method} ${items}${place}`;
}

function decode(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    // This segment is not percent-encoded UTF-8, so it cannot be a fixed part of a route. If it is in the place of an
    // ID, it is refused later.
    if (error instanceof URIError) return segment;
    throw error;
  }
}
