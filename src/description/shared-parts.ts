// The parameters, headers and credentials that several operations share.

import { serviceLinks } from "../http/headers.ts";
import type { DescribedInstance } from "./described-instance.ts";
import { type Part, schemaRef } from "./document.ts";
import { exampleId, exampleTag, exampleToken } from "./examples.ts";

export function parameters({ fieldNames }: DescribedInstance): { readonly [name: string]: Part } {
  return {
    Id: {
      name: "id",
      in: "path",
      required: true,
      description: "The item's ID.",
      schema: schemaRef("Id"),
      examples: { item: { summary: "An item's ID", value: exampleId } },
    },
    IfMatch: {
      name: "If-Match",
      in: "header",
      description:
        "The ETag that you last saw. If the state has changed since then, the request is refused with 412 and changes nothing. `*` means any state.",
      schema: { type: "string" },
      examples: { seen: { summary: "The state you have seen", value: exampleTag(13, fieldNames) } },
    },
    IfNoneMatch: {
      name: "If-None-Match",
      in: "header",
      description: "The ETag of the state that you have. If that is still current, the answer is 304 without a body.",
      schema: { type: "string" },
      examples: { have: { summary: "The state you have", value: exampleTag(13, fieldNames) } },
    },
    Since: {
      name: "since",
      in: "query",
      description: "The token to continue from: an ETag of the list without its quotes, or the `id` of an event.",
      schema: { type: "string" },
      examples: { seen: { summary: "The last state you have seen", value: exampleToken(13) } },
    },
    LastEventId: {
      name: "Last-Event-ID",
      in: "header",
      description: "The same as `since`, as browsers send it when they reconnect. It wins over `since`.",
      schema: { type: "string" },
      examples: { seen: { summary: "The last event you have seen", value: exampleToken(13) } },
    },
  };
}

export function headers({ fieldNames }: DescribedInstance): { readonly [name: string]: Part } {
  const header = (description: string, example: string | number, schema: Part = { type: "string" }): Part => ({
    description,
    schema,
    example,
  });
  return {
    ETag: header("Names this state, for `If-Match`, `If-None-Match` and `since`.", exampleTag(13, fieldNames)),
    Location: header("The path of the new item.", `/api/todoitems/${exampleId}`),
    Allow: header("The methods that this path offers.", "GET, POST, PUT"),
    "Cache-Control": header("`no-cache`: ask again before you use a stored copy.", "no-cache"),
    Link: header("Where this description and the reference are (RFC 8631).", serviceLinks.Link),
    Age: header("Only while the store cannot be reached: how many seconds old this answer is.", 3, {
      type: "integer",
      format: "int32",
    }),
    "Retry-After": header("How many seconds to wait.", 1, { type: "integer", format: "int32" }),
    "WWW-Authenticate": header("The way to sign in.", 'Basic realm="todoitems", charset="UTF-8"'),
  };
}

export const securitySchemes: { readonly [name: string]: Part } = {
  basic: { type: "http", scheme: "basic", description: "A user name and password (RFC 7617), in UTF-8." },
};
