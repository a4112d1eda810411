// Maps a URL path to a resource, and a resource to the methods it offers.

export const urlForms = ["both", "a", "b"] as const;
/**
 * Which paths the operations `create` and `update` accept. In form A, the path contains the ID. In form B, it does not.
 */
export type UrlForms = (typeof urlForms)[number];

export type Route = { readonly resource: "collection" } | ItemRoute | ChangesRoute | HealthRoute;

export interface ItemRoute {
  readonly resource: "item";
  /** The ID from the path, decoded but not yet checked. */
  readonly segment: string;
}

interface ChangesRoute {
  readonly resource: "changes";
  /** The feed or the document of changes. Undefined if the request's `Accept` header decides. */
  readonly wanted: "events" | "delta" | undefined;
}

interface HealthRoute {
  readonly resource: "live" | "ready";
}

const collection: Route = { resource: "collection" };
const usualPrefix = "/api/todoitems/";

/**
 * Matches the template api/{controller}/{id}. The controller defaults to todoitems, and the ID is optional. It also
 * matches /changes, /changes/events, /changes/delta, /health/live and /health/ready.
 */
export function matchRoute(path: string): Route | undefined {
  // Most clients use the spellings below. They are recognised first, because splitting a path costs a microsecond.
  if (path === usualPrefix || path === "/api/todoitems") return collection;
  if (path.startsWith(usualPrefix) && path.indexOf("/", usualPrefix.length) === -1 && !path.includes("%"))
    return { resource: "item", segment: path.slice(usualPrefix.length) };
  if (path === "/health/live") return { resource: "live" };
  if (path === "/health/ready") return { resource: "ready" };
  const segments = path.slice(1).split("/");
  // A trailing slash is accepted, not redirected, because many clients turn a redirected POST into a GET and still
  // report success.
  if (segments.at(-1) === "") segments.pop();
  const [prefix, controller = "todoitems", segment, ...deeper] = segments.map(decode);
  if (prefix?.toLowerCase() === "changes") return matchChanges(segments.slice(1).join("/").toLowerCase());
  if (prefix?.toLowerCase() !== "api" || controller.toLowerCase() !== "todoitems" || deeper.length > 0)
    return undefined;
  return segment === undefined ? collection : segment === "" ? undefined : { resource: "item", segment };
}

function matchChanges(rest: string): ChangesRoute | undefined {
  if (rest === "") return { resource: "changes", wanted: undefined };
  return rest === "events" || rest === "delta" ? { resource: "changes", wanted: rest } : undefined;
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
  const isOfItems = route?.resource === "collection" || route?.resource === "item";
  if (!isOfItems || !["POST", "PUT", "PATCH", "DELETE"].includes(method)) return undefined;
  const place = forms === "b" && method !== "DELETE" ? " with the ID in the body" : "{ID} with the ID in the path";
  return method === "PATCH"
    ? `Read the item, and send all of it with your change, and its ETag in If-Match: PUT ${usualPrefix}${place}`
    : `Send ${method} ${usualPrefix}${place}`;
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
