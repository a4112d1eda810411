// Which resource a URL names, and which methods that resource offers.

export const urlForms = ["both", "a", "b"] as const;
/** Which forms of the create and update paths are exposed: A has the ID in the path, B has not. */
export type UrlForms = (typeof urlForms)[number];

export type Route = { readonly resource: "collection" | "changes" } | ItemRoute | HealthRoute;

export interface ItemRoute {
  readonly resource: "item";
  /** The ID as it stands in the path, decoded but not yet checked. */
  readonly segment: string;
}

/** For those who watch over the service: is it there, and can it answer? */
interface HealthRoute {
  readonly resource: "live" | "ready";
}

const collection: Route = { resource: "collection" };
const changes: Route = { resource: "changes" };

/** The template api/{controller}/{id}: the controller defaults to todoitems, the ID is optional. Beside it, /changes. */
export function matchRoute(path: string): Route | undefined {
  if (path === "/api/todoitems/" || path === "/api/todoitems") return collection;
  if (path === "/health/live") return { resource: "live" };
  if (path === "/health/ready") return { resource: "ready" };
  const segments = path.slice(1).split("/");
  // Clients follow a redirected POST with a GET and still report success, so a trailing slash is
  // answered directly instead of by a redirect.
  if (segments.at(-1) === "") segments.pop();
  const [prefix, controller = "todoitems", segment, ...deeper] = segments.map(decode);
  if (prefix?.toLowerCase() === "changes" && segments.length === 1) return changes;
  if (prefix?.toLowerCase() !== "api" || controller.toLowerCase() !== "todoitems" || deeper.length > 0)
    return undefined;
  return segment === undefined ? collection : segment === "" ? undefined : { resource: "item", segment };
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

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    // Not percent-encoded UTF-8, so it is no name of ours: as an ID it will be refused as malformed.
    if (error instanceof URIError) return segment;
    throw error;
  }
}
