// The operations other than those on items: the change feed, the document of changes, and health.

import type { DescribedInstance } from "./described-instance.ts";
import { headerRefs, type Operation, type Part, type PathItem, parameterRefs, schemaRef } from "./document.ts";
import { exampleEpoch, exampleId, exampleItem, exampleTag, exampleToken } from "./examples.ts";
import { problemResponses } from "./problems.ts";

export function otherPaths(instance: DescribedInstance): Record<string, PathItem> {
  return {
    "/changes/events": { get: events(instance) },
    "/changes/delta": { get: delta(instance) },
    "/health/live": { get: health(instance, "isLive", "Ask whether the process answers", "live") },
    "/health/ready": { get: health(instance, "isReady", "Ask whether requests can be served", "ready") },
  };
}

function events(instance: DescribedInstance): Operation {
  return {
    tags: ["changes"],
    operationId: "followChanges",
    summary: "Follow changes as they happen",
    description:
      "Opens a feed of server-sent events that does not end. `ready` comes first and says which version the store has reached. `change` has one changed item; of several changes to one item that you missed, only the last is sent, so versions may be skipped. `resync` says that you missed changes that are no longer known, or that the store does not know your token: fetch the list again. Lines that begin with a colon are heartbeats; there is one at least every 15 seconds. A service that stops ends the feed with `retry`, the number of milliseconds to wait before reconnecting. To continue after an interruption, send the `id` of the last event that had one, not its `version`, in `Last-Event-ID` or `since`. `/changes` is the same resource, unless the request accepts `application/json` only.",
    parameters: parameterRefs("Since", "LastEventId"),
    security: security(instance),
    responses: {
      "200": {
        description:
          "The feed. The data of each event is JSON: `FeedReady` for `ready`, `Change` for `change`, `FeedResync` for `resync`.",
        headers: headerRefs("Cache-Control", "Vary"),
        content: {
          "text/event-stream": {
            schema: {
              type: "string",
              description: "Server-sent events in UTF-8.",
              // OpenAPI 3.1 has no standard field for the data of an event, so this is a field of our own.
              "x-events": {
                ready: schemaRef("FeedReady"),
                change: schemaRef("Change"),
                resync: schemaRef("FeedResync"),
              },
            },
            examples: { buyMilk: { summary: "A feed with one change", value: transcript(instance) } },
          },
        },
      },
      ...problemResponses(instance, ["StoreUnavailable", "TooManyRequests", "CrossSiteRefused"], credentials(instance)),
    },
  };
}

function transcript({ fieldNames, readOnly }: DescribedInstance): string {
  const change = changeExample(fieldNames);
  return [
    `event: ready\ndata: ${JSON.stringify({ epoch: exampleEpoch, version: 13, readOnly })}\nid: ${exampleToken(13)}\n`,
    `event: change\nid: ${exampleToken(14)}\ndata: ${JSON.stringify(change)}\n`,
    ": still here\n",
  ].join("\n");
}

function changeExample(fieldNames: DescribedInstance["fieldNames"]): Part {
  const item = exampleItem(fieldNames, { Done: true });
  return { version: 14, position: 13, id: exampleId, etag: exampleTag(14, fieldNames), item };
}

function delta(instance: DescribedInstance): Operation {
  const { fieldNames, readOnly } = instance;
  const state = { epoch: exampleEpoch, version: 14, readOnly, whole: false };
  return {
    tags: ["changes"],
    operationId: "readChanges",
    summary: "Read the changes since a token",
    description:
      "Returns one document with everything that changed since the token, deletions included. Without a token it returns every item. `/changes` is the same resource for a request that accepts `application/json` only.",
    parameters: parameterRefs("Since", "LastEventId", "IfNoneMatch"),
    security: security(instance),
    responses: {
      "200": {
        description: "The changes.",
        headers: headerRefs("ETag", "Cache-Control", "Vary", "Content-Encoding"),
        content: {
          "application/json": {
            schema: schemaRef("Delta"),
            examples: {
              buyMilk: {
                summary: "One item was changed",
                value: { ...state, changes: [changeExample(fieldNames)] },
              },
              unchanged: {
                summary: "Nothing has changed",
                value: { ...state, changes: [] },
              },
            },
          },
        },
      },
      "304": {
        description: "You have the current state already.",
        headers: headerRefs("ETag", "Cache-Control", "Vary"),
      },
      ...problemResponses(instance, ["StoreUnavailable"], credentials(instance)),
    },
  };
}

function health(instance: DescribedInstance, operationId: string, summary: string, status: string): Operation {
  const answer = (description: string, value: string): Part => ({
    description,
    headers: headerRefs("Cache-Control"),
    content: {
      "application/json": { schema: schemaRef("HealthStatus"), examples: { example: { value: { status: value } } } },
    },
  });
  const { "503": overloaded, ...problems } = problemResponses(instance, [], { needsCredentials: false });
  return {
    tags: ["health"],
    operationId,
    summary,
    description:
      status === "live"
        ? "Answers 200 as long as the process answers at all."
        : "Answers 200 if the store can be read and written, otherwise 503. Also answers 503 if the service is about to stop.",
    security: [],
    responses: {
      ...problems,
      "200": answer("Yes.", status),
      ...(status === "ready"
        ? { "503": either(answer("No; `status` says why.", "store unavailable"), overloaded) }
        : {}),
    },
  };
}

/** An answer that may be one of two documents, told apart by their media types. */
function either(answer: Part, other: Part = {}): Part {
  return {
    description: `${answer["description"]}\n\n${other["description"]}`,
    headers: { ...part(answer, "headers"), ...part(other, "headers") },
    content: { ...part(answer, "content"), ...part(other, "content") },
  };
}

function part(of: Part, name: string): Part {
  const found = of[name];
  return typeof found === "object" ? { ...found } : {};
}

function credentials({ auth }: DescribedInstance) {
  return { needsCredentials: auth === "all" };
}

function security({ auth }: DescribedInstance): readonly Part[] {
  return auth === "all" ? [{ basic: [] }] : [];
}
