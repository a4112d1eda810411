// The schemas of everything that is sent: items, changes, problems and health.

import { problemCodes } from "../http/problem-table.ts";
import type { FieldNames } from "../items/field-names.ts";
import { nestingDepthMax } from "../items/todo-item.ts";
import type { DescribedInstance } from "./described-instance.ts";
import { type Part, schemaRef } from "./document.ts";
import { exampleEpoch, exampleId, exampleItem, exampleNewItem, exampleTag, spelled } from "./examples.ts";

const countRange = { type: "integer", format: "int64", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const version: Part = {
  ...countRange,
  description: "Counts the changes of the store. Every change takes the next number.",
};
const readOnly: Part = {
  type: "boolean",
  description: "True if this instance keeps no writes, although it answers them as if it did.",
};

export function schemas(instance: DescribedInstance): { readonly [name: string]: Part } {
  const { fieldNames } = instance;
  return {
    Id: {
      type: "string",
      format: "uuid",
      maxLength: 36,
      pattern: "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
      description: "A UUID of any version. Letter case does not matter: two IDs that differ only in case are the same.",
      examples: [exampleId],
    },
    TodoItem: item(instance, true),
    NewTodoItem: item(instance, false),
    TodoItems: { type: "array", description: "Every item, in order of creation.", items: schemaRef("TodoItem") },
    Change: {
      type: "object",
      description: "What a change has made of one item.",
      required: ["version", "position", "id", "item"],
      properties: {
        version,
        position: {
          ...countRange,
          description: "The item's place: lists are in order of position. It never changes for an item.",
        },
        id: { ...schemaRef("Id"), description: "The item's ID in lower case." },
        etag: { type: "string", description: "The item's ETag. Absent if the item was deleted." },
        item: { description: "The item, or null if it was deleted.", oneOf: [schemaRef("TodoItem"), { type: "null" }] },
      },
      examples: [
        {
          version: 14,
          position: 13,
          id: exampleId,
          etag: exampleTag(14, fieldNames),
          item: exampleItem(fieldNames, { Done: true }),
        },
      ],
    },
    Delta: {
      type: "object",
      description: "Everything that changed since a token. The next token is `epoch`, a hyphen and `version`.",
      required: ["epoch", "version", "readOnly", "whole", "changes"],
      properties: {
        epoch: { type: "string", description: "Names the history of the store.", examples: [exampleEpoch] },
        version,
        readOnly,
        whole: {
          type: "boolean",
          description:
            "True if `changes` has every item there is: no token was sent, or its changes are no longer known. Then drop every item that is not in `changes`.",
        },
        changes: { type: "array", items: schemaRef("Change") },
      },
    },
    FeedReady: {
      type: "object",
      description: "The data of the event `ready`: the feed is open.",
      required: ["epoch", "version", "readOnly"],
      properties: {
        epoch: { type: "string" },
        version,
        readOnly,
      },
    },
    FeedResync: {
      type: "object",
      description: "The data of the event `resync`: fetch the list again, then go on from the event's `id`.",
      required: ["epoch", "version"],
      properties: { epoch: { type: "string" }, version },
    },
    Problem: problem({}, []),
    PreconditionFailedProblem: problem(
      {
        code: { type: "string", const: "PreconditionFailed" },
        current: {
          ...schemaRef("TodoItem"),
          description: "The item as it is now. Absent if the request was for the list.",
        },
      },
      [],
    ),
    HealthStatus: {
      type: "object",
      required: ["status"],
      properties: { status: { type: "string", description: "The state in a few words.", examples: ["ready"] } },
    },
  };
}

function item({ fieldNames }: DescribedInstance, hasId: boolean): Part {
  const id = spelled("ID", fieldNames);
  const field = (name: string, type: string, description: string): [string, Part] => [
    spelled(name, fieldNames),
    { type: [type, "null"], "x-unchecked": true, description },
  ];
  const idPart: Part = hasId
    ? schemaRef("Id")
    : {
        oneOf: [schemaRef("Id"), { type: "null" }],
        description: "May be left out or null on create. Then the service takes the ID in the path, or makes one.",
      };
  return {
    type: "object",
    description: itemDescription(fieldNames),
    ...(hasId ? { required: [id] } : {}),
    properties: {
      [id]: idPart,
      ...Object.fromEntries([
        field("Name", "string", "What is to be done."),
        field("Notes", "string", "Anything else about it."),
        field("Done", "boolean", "Whether it is done."),
      ]),
    },
    additionalProperties: true,
    examples: [hasId ? exampleItem(fieldNames) : exampleNewItem(fieldNames)],
  };
}

function itemDescription(fieldNames: FieldNames): string {
  const spelling = {
    "as-sent":
      "The name is recognised in any letter case, and every item is returned with the names it was sent with: `ID` or `id`.",
    pascal: "Names may be sent in any letter case. This instance returns them in Pascal case: `ID`, `Name`.",
    camel: "Names may be sent in any letter case. This instance returns them in camel case: `id`, `name`.",
  }[fieldNames];
  return [
    `A to-do item: any JSON object. Only the ID has a meaning to the service. ${spelling}`,
    "Every other field, of any name and any JSON type, is stored and returned exactly as it was sent. The types given here are those that common apps use; the service does not check them.",
    `Objects and arrays may be nested up to ${nestingDepthMax} levels deep.`,
    "Numbers keep all their digits in the service, but most generated clients read numbers as 64-bit floating point and lose digits beyond about 16. Send such values as strings, or read the JSON text yourself.",
  ].join("\n\n");
}

function problem(more: Part, moreRequired: readonly string[]): Part {
  return {
    type: "object",
    description: "An error (RFC 9457). Programs should look at `code`, people at `detail`.",
    required: ["type", "title", "status", "detail", "code", ...moreRequired],
    properties: {
      type: {
        type: "string",
        format: "uri-reference",
        description: "Where this kind of problem is explained: `/docs#` and the code.",
      },
      title: { type: "string", description: "The name of the status." },
      status: { type: "integer", format: "int32", minimum: 400, maximum: 599, description: "The HTTP status." },
      detail: { type: "string", description: "What was wrong, and what to send instead." },
      code: { type: "string", description: "A stable word for programs.", enum: problemCodes },
      ...more,
    },
    additionalProperties: true,
  };
}
