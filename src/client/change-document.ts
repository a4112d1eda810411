// Reads the changes that the service sends. Its change feed and its document of changes describe a change in the same
// way.

import { scanArray } from "../items/json-text.ts";
import { stringOf } from "../items/object-text.ts";
import { InvalidResponseError } from "./errors.ts";
import { documentDepthMax, type Reply } from "./reply.ts";

export interface Change {
  /** In lower case. */
  readonly id: string;
  /** The item's text. Undefined if the item was removed. */
  readonly json: string | undefined;
  readonly etag: string | undefined;
  /**
   * Items with a lower position come first in the list. The position is the version of the list in which the item first
   * appeared.
   */
  readonly position: number;
  readonly version: number;
}

export interface ChangeDocument {
  /** Names the state of the list after all these changes. */
  readonly token: string;
  readonly epoch: string | undefined;
  readonly readOnly: boolean;
  readonly version: number;
  /** True if `changes` contains every item of the list. */
  readonly whole: boolean;
  /** In the order in which to apply them. */
  readonly changes: readonly Change[];
}

export function readChange(reply: Reply, json: string): Change {
  const values = reply.values(json);
  const id = stringOf(values.get("id"))?.toLowerCase();
  if (id === undefined) throw new InvalidResponseError(reply.request, "a change without an ID");
  const item = values.get("item") ?? "null";
  return {
    id,
    json: item === "null" ? undefined : item,
    etag: stringOf(values.get("etag")),
    position: Number(values.get("position")),
    version: Number(values.get("version")),
  };
}

export async function readChangeDocument(reply: Reply): Promise<ChangeDocument> {
  const values = reply.values(await reply.text());
  const version = values.get("version") ?? "";
  return {
    token: `${stringOf(values.get("epoch")) ?? ""}-${version}`,
    epoch: stringOf(values.get("epoch")),
    readOnly: values.get("readOnly") === "true",
    version: Number(version),
    whole: values.get("whole") === "true",
    changes: reply
      .parse(values.get("changes") ?? "", (text) => scanArray(text, documentDepthMax))
      .map((change) => readChange(reply, change)),
  };
}
