// The parameters, headers and credentials that several operations share. The examples of a parameter and of the bodies
// that belong to it have the same names, so that mocks and contract testers can pair them. Tools such as Postman fill
// in every example and every default. So a request with all of them must succeed, and a parameter that would spoil it
// has neither.

import { serviceLinks } from "../http/headers.ts";
import type { DescribedInstance } from "./described-instance.ts";
import { type Part, schemaRef } from "./document.ts";
import { exampleId, exampleTag, exampleToken } from "./examples.ts";

export const parameters: { readonly [name: string]: Part } = {
  Id: {
    name: "id",
    in: "path",
    required: true,
    description: "The item's ID.",
    schema: schemaRef("Id"),
    examples: { buyMilk: { summary: "The ID of the example item", value: exampleId } },
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    description:
      "The ETag that you last saw. If the state has changed since then, the request is refused with 412 and changes nothing. `*` means any state.",
    schema: { type: "string", default: "*" },
    examples: { buyMilk: { summary: "Any state", value: "*" } },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "The ETag of the state that you have. If that is still current, the answer is 304 without a body.",
    schema: { type: "string" },
  },
  IfNoneMatchOfWrite: {
    name: "If-None-Match",
    in: "header",
    description:
      "The ETag of a state in which nothing shall be changed. If the item is in that state, the request is refused with 412. `*` means any state.",
    schema: { type: "string" },
  },
  Prefer: {
    name: "Prefer",
    in: "header",
    description: "`return=minimal`: leave the item out of the answer. `Location` and `ETag` are still there.",
    schema: { type: "string" },
  },
  Since: {
    name: "since",
    in: "query",
    description:
      "The token to continue from: an ETag of the list or of `/changes/delta`, with or without its quotes, or the `id` of an event.",
    schema: { type: "string" },
    examples: {
      buyMilk: { summary: "The state before the item was marked as done", value: exampleToken(13) },
      unchanged: { summary: "The current state", value: exampleToken(14) },
    },
  },
  LastEventId: {
    name: "Last-Event-ID",
    in: "header",
    description: "The same as `since`, as browsers send it when they reconnect. It wins over `since`.",
    schema: { type: "string" },
    examples: { buyMilk: { summary: "The last event you have seen", value: exampleToken(13) } },
  },
};

const count: Part = { type: "integer", format: "int32", minimum: 0, maximum: 2 ** 31 - 1 };

export function headers({ fieldNames }: DescribedInstance): { readonly [name: string]: Part } {
  const header = (description: string, example: string | number, schema: Part = { type: "string" }): Part => ({
    description,
    schema,
    example,
  });
  return {
    ETag: header("Names this state, for `If-Match`, `If-None-Match` and `since`.", exampleTag(13, fieldNames)),
    Location: header("The path of the new item.", `/api/todoitems/${exampleId}`),
    "Preference-Applied": header(
      "Only if the request has `Prefer: return=minimal`: there is no body.",
      "return=minimal",
    ),
    Vary: header("The request headers that the answer depends on.", "Accept-Encoding"),
    "Content-Encoding": header("Only if the answer is compressed, as one of 1,000 bytes or more may be.", "gzip"),
    "Cache-Control": header("`no-cache`: ask again before you use a stored copy.", "no-cache"),
    Link: header("Where this description and the reference are (RFC 8631).", serviceLinks.Link),
    "Retry-After": header("How many seconds to wait.", 1, count),
    "X-Total-Count": header("The number of items.", 1, count),
    "X-Request-Id": header(
      "Names the request; the service's log has it too. It is the ID that the request had, or else a new one.",
      "0f8fad5b-d9cb-469f-a165-70867728950e",
    ),
    "WWW-Authenticate": header("The way to sign in.", 'Basic realm="todoitems", charset="UTF-8"'),
  };
}

export const securitySchemes: { readonly [name: string]: Part } = {
  basic: { type: "http", scheme: "basic", description: "A user name and password (RFC 7617), in UTF-8." },
};
