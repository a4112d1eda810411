// The operations on items: list, read, create, update and delete, in the forms that the instance offers.

import type { ProblemCode } from "../http/problem.ts";
import type { DescribedInstance } from "./described-instance.ts";
import { headerRefs, type Operation, type Part, type PathItem, parameterRefs, schemaRef } from "./document.ts";
import { exampleItem, exampleNewItem, spelled } from "./examples.ts";
import { problemResponses } from "./problems.ts";

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
        description:
          "Returns every item in one array, in order of creation. There are no pages. Send the ETag of your last list in `If-None-Match` to pay for the list only if it has changed. `/api` and `/api/todoitems/` are the same resource, and letter case in the path does not matter.",
        parameters: parameterRefs("IfNoneMatch", "IfMatch"),
      },
      {
        "200": this.#ok("The items.", "TodoItems", [exampleItem(this.#instance.fieldNames)]),
        "304": this.#notModified(),
      },
      ["PreconditionFailed", ...inStore],
      { writes: false },
    );
  }

  read(): Operation {
    return this.#operation(
      {
        operationId: "readItem",
        summary: "Read one item",
        description: "Returns one item, exactly as it was sent.",
        parameters: parameterRefs("Id", "IfNoneMatch", "IfMatch"),
      },
      { "200": this.#ok("The item.", "TodoItem", exampleItem(this.#instance.fieldNames)), "304": this.#notModified() },
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
        parameters: isA ? parameterRefs("Id") : [],
        requestBody: this.#body("NewTodoItem", {
          ...(isA ? {} : { withoutId: ["Without an ID: the service makes one", exampleNewItem(fieldNames)] }),
          withId: ["With an ID of your own", exampleItem(fieldNames)],
        }),
      },
      {
        "201": {
          ...this.#ok("The item as it is stored.", "TodoItem", exampleItem(fieldNames), "ETag", "Location"),
          links: itemLinks(this.#instance),
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
          "Replaces the whole item; fields that you leave out are gone. The item keeps its place in the list. Send the ETag that you last saw in `If-Match`, so that you do not overwrite somebody else's change.",
        parameters: isA ? parameterRefs("Id", "IfMatch", "IfNoneMatch") : parameterRefs("IfMatch", "IfNoneMatch"),
        requestBody: this.#body(isA ? "NewTodoItem" : "TodoItem", {
          done: ["The item, marked as done", exampleItem(fieldNames, { Done: true })],
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
        parameters: parameterRefs("Id", "IfMatch", "IfNoneMatch"),
      },
      { "204": { description: "The item is deleted. There is no body." } },
      [...inBody, "TodoItemIDMismatch", "UnsupportedMediaType", "RecordNotFound", "PreconditionFailed", ...inStore],
      { writes: true },
    );
  }

  #operation(
    head: Part & { readonly operationId: string },
    successes: Record<string, Part>,
    problems: readonly ProblemCode[],
    { writes }: { readonly writes: boolean },
  ): Operation {
    const { auth } = this.#instance;
    const needsCredentials = auth === "all" || (auth === "writes" && writes);
    return {
      tags: ["items"],
      ...head,
      security: needsCredentials ? [{ basic: [] }] : [],
      responses: { ...successes, ...problemResponses(this.#instance, problems, { needsCredentials }) },
    };
  }

  #ok(description: string, schema: string, example: unknown, ...headers: readonly string[]): Part {
    const names = headers.length > 0 ? headers : ["ETag", "Cache-Control", "Age"];
    return {
      description,
      headers: headerRefs(...names),
      content: { "application/json": { schema: schemaRef(schema), examples: { example: { value: example } } } },
    };
  }

  #notModified(): Part {
    return { description: "You have the current state already.", headers: headerRefs("ETag", "Cache-Control", "Age") };
  }

  #body(schema: string, examples: Readonly<Record<string, readonly [summary: string, value: unknown]>>): Part {
    return {
      required: true,
      description: `At most ${this.#instance.bodyBytesMax} bytes.`,
      content: {
        "application/json": {
          schema: schemaRef(schema),
          examples: Object.fromEntries(
            Object.entries(examples).map(([name, [summary, value]]) => [name, { summary, value }]),
          ),
        },
      },
    };
  }
}

/** How to go on with an item that was just created. */
function itemLinks({ forms, fieldNames }: DescribedInstance): Part {
  const id = `$response.body#/${spelled("ID", fieldNames)}`;
  const withTag = { id, "If-Match": "$response.header.ETag" };
  return {
    read: { operationId: "readItem", parameters: { id }, description: "Read the new item." },
    ...(forms === "b"
      ? {}
      : { update: { operationId: "updateItemAt", parameters: withTag, description: "Replace the new item." } }),
    delete: { operationId: "deleteItem", parameters: withTag, description: "Delete the new item." },
  };
}
