// The items, ETags and tokens that appear in the description's examples. (A token names one version of a store.) All
// examples tell one story: the item is created at version 13 of a store, and marked as done at version 14.

import { type FieldNames, respell } from "../items/field-names.ts";
import { formatToken } from "../items/token.ts";

export const exampleId = "54b4c1f2-0f8e-4a6b-9d3c-2f1a7e5b8c90";
export const exampleEpoch = "5e8a51dfb2464d34";

export function exampleToken(version: number): string {
  return formatToken({ epoch: exampleEpoch, version });
}

export function exampleTag(version: number, fieldNames: FieldNames): string {
  return `"${formatToken({ epoch: exampleEpoch, version }, fieldNames)}"`;
}

/** The example item. Its field names are spelled as the instance spells them. */
export function exampleItem(fieldNames: FieldNames, fields: Readonly<Record<string, unknown>> = {}): unknown {
  const item = { ID: exampleId, Name: "Buy milk", Notes: "two litres", Done: false, ...fields };
  return JSON.parse(respell(JSON.stringify(item), fieldNames));
}

/** The same item as a client sends it, before it has an ID. */
export function exampleNewItem(fieldNames: FieldNames): unknown {
  const item = { Name: "Buy milk", Notes: "two litres", Done: false };
  return JSON.parse(respell(JSON.stringify(item), fieldNames));
}

/** A field name of the example item, spelled as the instance spells it. */
export function spelled(name: string, fieldNames: FieldNames): string {
  return Object.keys(JSON.parse(respell(JSON.stringify({ [name]: 0 }), fieldNames)))[0] ?? name;
}
