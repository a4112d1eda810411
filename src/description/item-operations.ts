// The operations on items: list, read, create, update and delete. In form A, the path of create and
// update contains the item's ID. In form B, it does not. The settings of the instance decide which forms it offers.

import type { ProblemCode } from "../http/problem-table.ts";
import type { DescribedInstance } from "./described-instance.ts";
import { headerRefs, type Operation, type Part, type PathItem, parameterRefs, schemaRef } from "./document.ts";
import { exampleItem, exampleNewItem, spelled } from "./examples.ts";
import { problemResponses } from "./problems.ts";
import { sizeText } from "./size-text.ts";

const inBody: readonly ProblemCode[] = ["InvalidJson", "NestingTooDeep", "TodoItemIDAmbiguous", "TodoItemIDInvalid"];
const inStore: readonly ProblemCode[] = ["StoreUnavailable"];

export function itemPaths(instance: DescribedInstance): Record<string, PathItem> {
  const operations = new ItemOperationsDescription(instance);
  const { forms } = instance;
  return {
    "/api/todoitems": {
      get: operations.list(),
      ...(forms === "a" ? {} : { post: operations.create("b"), put: operations.update("b") }),
    },
    "/api/todoitems/{id}": {
      get: operations.read(),
      ...(forms === "b" ? {} : { post: operations.create("a"), put: operations.update("a") }),
      delete: operations.remove(),
    },
  };
}

/** The headers of an answer that may be compressed. */
const compressedHeaders: readonly string[] = ["Vary", "Content-Encoding"];

const listDescription = [
  "Returns every item in one array, in order of creation. There are no pages.",
  "Send the ETag of your last list in `If-None-Match` to pay for the list only if it has changed.",
  "A list of 1,000 bytes or more is compressed if the request's `Accept-Encoding` allows gzip. Most HTTP clients ask for that and decompress it by themselves.",
  "`/api` and `/api/todoitems/` are the same resource, and letter case in the path does not matter.",
].join(" ");

class ItemOperationsDescription {
  readonly #instance: DescribedInstance;

  constructor(instance: DescribedInstance) {
    this.#instance = instance;
  }

  list(): Operation {
    return this.#operation(
      {
        operationId: "listItems",
        summary: "List all items",
        description: listDescription,
        parameters: parameterRefs("IfNoneMatch", "IfMatch"),
      },
      {
        "200": this.#ok(
          "The items.",
          "TodoItems",
          [exampleItem(this.#instance.fieldNames)],
          ["Link", "X-Total-Count", ...compressedHeaders],
        ),
        "304": this.#notModified(["Vary"]),
      },
      ["PreconditionFailed", ...inStore],
      { writes: false, isList: true },
    );
  }

  read(): Operation {
    return this.#operation(
      {
        operationId: "readItem",
        summary: "Read one item",
        description:
          "Returns one item, exactly as it was sent, and with an ID if it was sent without one. A slash at the end of the path changes nothing.",
        parameters: parameterRefs("Id", "IfNoneMatch", "IfMatch"),
      },
      {
        "200": {
          ...this.#ok("The item.", "TodoItem", exampleItem(this.#instance.fieldNames), compressedHeaders),
          links: itemLinks(this.#instance, "read"),
        },
        "304": this.#notModified(),
      },
      ["TodoItemIDInvalid", "RecordNotFound", "PreconditionFailed", ...inStore],
      { writes: false },
    );
  }

  create(form: "a" | "b"): Operation {
    const { fieldNames } = this.#instance;
    const isA = form === "a";
    return this.#operation(
      {
        operationId: isA ? "createItemAt" : "createItem",
        summary: isA ? "Create an item at a path" : "Create an item",
        description: isA
          ? "Stores a new item under the ID in the path. The body may leave the ID out; if it has one, it must be the same."
          : "Stores a new item. If it has no ID, the service makes one. The answer leaves once the item is on disk.",
        parameters: isA ? parameterRefs("Id", "Prefer") : parameterRefs("Prefer"),
        requestBody: this.#body("NewTodoItem", {
          ...(isA ? {} : { withoutId: ["Without an ID: the service makes one", exampleNewItem(fieldNames)] }),
          buyMilk: ["With an ID of your own", exampleItem(fieldNames)],
        }),
      },
      {
        "201": {
          description: "The item as it is stored.",
          headers: headerRefs("ETag", "Location", "Preference-Applied", ...compressedHeaders),
          content: content("TodoItem", {
            ...(isA ? {} : { withoutId: ["The service has made an ID", exampleItem(fieldNames)] }),
            buyMilk: ["The item as it was sent", exampleItem(fieldNames)],
          }),
          links: itemLinks(this.#instance, "create"),
        },
      },
      [
        ...inBody,
        "FieldRequired",
        ...(isA ? (["TodoItemIDMismatch"] as const) : []),
        "UnsupportedMediaType",
        "TodoItemIDInUse",
        "StoreFull",
        ...inStore,
      ],
      { writes: true },
    );
  }

  update(form: "a" | "b"): Operation {
    const { fieldNames } = this.#instance;
    const isA = form === "a";
    return this.#operation(
      {
        operationId: isA ? "updateItemAt" : "updateItem",
        summary: isA ? "Replace the item at a path" : "Replace an item",
        description:
          "Replaces the whole item; fields that you leave out are gone. The item keeps its place in the list. Send the item's ETag in `If-Match`, with its quotes, so that you do not overwrite somebody else's change; without `If-Match`, the item is replaced whatever its state. The answers to create, read and update have the item's ETag, and so has each change of `/changes/delta`. The ETag of a list is that of the whole list.",
        parameters: isA
          ? parameterRefs("Id", "IfMatch", "IfNoneMatchOfWrite")
          : parameterRefs("IfMatch", "IfNoneMatchOfWrite"),
        requestBody: this.#body(isA ? "NewTodoItem" : "TodoItem", {
          buyMilk: ["The item, marked as done", exampleItem(fieldNames, { Done: true })],
        }),
      },
      { "204": { description: "The item is replaced. There is no body.", headers: headerRefs("ETag") } },
      [
        ...inBody,
        "FieldRequired",
        isA ? "TodoItemIDMismatch" : "TodoItemIDRequired",
        "UnsupportedMediaType",
        "RecordNotFound",
        "PreconditionFailed",
        "StoreFull",
        ...inStore,
      ],
      { writes: true },
    );
  }

  remove(): Operation {
    return this.#operation(
      {
        operationId: "deleteItem",
        summary: "Delete an item",
        description:
          "Deletes the item. A body is not needed; if there is one, it must be the item as JSON, with the ID of the path.",
        parameters: parameterRefs("Id", "IfMatch", "IfNoneMatchOfWrite"),
        // The schema names no fields, because tools would fill them in, with another ID than that of the path.
        requestBody: { content: { "application/json": { schema: { type: "object" } } } },
      },
      {
        "204": {
          description: "The item is deleted. There is no body.",
          // A read-only instance sends an ETag that ends in `-not-kept`, which says that nothing was stored.
          ...(this.#instance.readOnly && { headers: headerRefs("ETag") }),
        },
      },
      [...inBody, "TodoItemIDMismatch", "UnsupportedMediaType", "RecordNotFound", "PreconditionFailed", ...inStore],
      { writes: true, isDelete: true },
    );
  }

  #operation(
    head: Part & { readonly operationId: string },
    successes: Record<string, Part>,
    problems: readonly ProblemCode[],
    kind: { readonly writes: boolean; readonly isList?: boolean; readonly isDelete?: boolean },
  ): Operation {
    const { auth } = this.#instance;
    const needsCredentials = auth === "all" || (auth === "writes" && kind.writes);
    return {
      tags: ["items"],
      ...head,
      security: needsCredentials ? [{ basic: [] }] : [],
      responses: { ...successes, ...problemResponses(this.#instance, problems, { needsCredentials, ...kind }) },
    };
  }

  #ok(description: string, schema: string, example: unknown, headers: readonly string[] = []): Part {
    return {
      description,
      headers: headerRefs("ETag", "Cache-Control", ...headers),
      content: content(schema, { buyMilk: ["One item, to buy milk", example] }),
    };
  }

  #notModified(headers: readonly string[] = []): Part {
    return {
      description: "You have the current state already.",
      headers: headerRefs("ETag", "Cache-Control", ...headers),
    };
  }

  #body(schema: string, examples: NamedExamples): Part {
    return {
      required: true,
      description: `At most ${sizeText(this.#instance.bodyBytesMax)}.`,
      content: content(schema, examples),
    };
  }
}

type NamedExamples = Readonly<Record<string, readonly [summary: string, value: unknown]>>;

function content(schema: string, examples: NamedExamples): Part {
  const named = Object.entries(examples).map(([name, [summary, value]]) => [name, { summary, value }]);
  return { "application/json": { schema: schemaRef(schema), examples: Object.fromEntries(named) } };
}

/** Links to the operations that a client may use next, after it created or read an item. */
function itemLinks({ forms, fieldNames }: DescribedInstance, after: "create" | "read"): Part {
  const id = `$response.body#/${spelled("ID", fieldNames)}`;
  const ifMatch = { "If-Match": "$response.header.ETag" };
  const update =
    forms === "b"
      ? { operationId: "updateItem", parameters: ifMatch }
      : { operationId: "updateItemAt", parameters: { id, ...ifMatch } };
  return {
    ...(after === "create"
      ? { read: { operationId: "readItem", parameters: { id }, description: "Read the item." } }
      : {}),
    update: { ...update, description: "Replace the item, unless somebody else has changed it." },
    delete: {
      operationId: "deleteItem",
      parameters: { id, ...ifMatch },
      description: "Delete the item, unless somebody else has changed it.",
    },
  };
}
