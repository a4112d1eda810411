// The description of one instance's API in OpenAPI 3.1: the single source for /openapi.json, /openapi.yaml,
// /openapi-3.0.json, the file in the repository, and the reference at /docs.

import type { DescribedInstance } from "./described-instance.ts";
import type { ApiDescription, Part } from "./document.ts";
import { itemPaths } from "./item-operations.ts";
import { withSamples } from "./operation-samples.ts";
import { otherPaths } from "./other-operations.ts";
import { problemTable } from "./problems.ts";
import { schemas } from "./schemas.ts";
import { headers, parameters, securitySchemes } from "./shared-parts.ts";
import { sizeText } from "./size-text.ts";

/**
 * `serverUrl` is the address under which the reader of the description reaches the instance, without a final slash.
 * It may also be `/`, a relative address that is right for every reader.
 */
export function describeApi(instance: DescribedInstance, serverUrl: string): ApiDescription {
  const paths = { ...itemPaths(instance), ...otherPaths(instance) };
  return {
    openapi: "3.1.1",
    info: {
      title: "todoitems",
      version: instance.version,
      summary: "To-do items as JSON over HTTP.",
      description: introduction(instance),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: serverUrl, description: "This instance." }],
    tags: [
      { name: "items", description: "The to-do items." },
      { name: "changes", description: "What happens to the items, live or since the last time you asked." },
      { name: "health", description: "For programs that monitor the service." },
    ],
    paths: withSamples(paths, instance, serverUrl),
    components: {
      schemas: schemas(instance),
      parameters: usedIn(paths, "parameters", parameters),
      headers: usedIn(paths, "headers", headers(instance)),
      ...(instance.auth === "off" ? {} : { securitySchemes }),
    },
    "x-problems": problemTable(instance),
  };
}

/** The parts that some path refers to. The settings of the instance decide which parts these are. */
function usedIn(paths: Part, kind: string, parts: { readonly [name: string]: Part }): Part {
  const text = JSON.stringify(paths);
  return Object.fromEntries(
    Object.entries(parts).filter(([name]) => text.includes(JSON.stringify(`#/components/${kind}/${name}`))),
  );
}

function introduction(instance: DescribedInstance): string {
  const { forms, readOnly, auth, bodyBytesMax, headerBytesMax, rateLimitPerSecond } = instance;
  const paragraphs = [
    "Lists, creates, reads, updates and deletes to-do items.",
    {
      both: "Apps differ in where they put an item's ID: in the path and the body (form A), or in the body only (form B). This instance accepts both forms for create and update.",
      a: "Create and update have the item's ID in the path (form A). `POST` and `PUT` on the collection are not offered by this instance.",
      b: "Create and update have the item's ID in the body (form B). `POST` and `PUT` on an item's path are not offered by this instance.",
    }[forms],
    readOnly ? "This instance is read-only: it checks and answers every write as usual, but keeps none." : undefined,
    {
      off: "No credentials are needed.",
      writes: "Create, update and delete need HTTP Basic credentials. Reading does not.",
      all: "Every operation on items and changes needs HTTP Basic credentials.",
    }[auth],
    instance.hasAuthority
      ? "HTTPS uses a development certificate. Clients trust it once they trust its authority, whose certificate is at `/certificate-authority.crt`."
      : undefined,
    instance.requiredFields.length === 0
      ? undefined
      : `Create and update must have these fields, not blank: ${instance.requiredFields.join(", ")}.`,
    `A body may have up to ${sizeText(bodyBytesMax)}, a request line with its headers up to ${sizeText(headerBytesMax)}.`,
    rateLimitPerSecond === undefined
      ? undefined
      : `Each address may send ${rateLimitPerSecond} requests a second; more are answered 429.`,
    "Every error is a problem document (RFC 9457) with a stable `code`. A method that a path does not offer is answered 405 with an `Allow` header; this includes HEAD and OPTIONS. A path that does not exist is answered 404.",
    "A request may have an `X-Request-Id` or a `traceparent` (W3C Trace Context). The answer then has the same header, and so has the service's log.",
  ];
  return paragraphs.filter((paragraph) => paragraph !== undefined).join("\n\n");
}
