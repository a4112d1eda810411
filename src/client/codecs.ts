// A codec turns an item's JSON text into a value and back. The client itself handles only text. So the codec decides
// which type an item has, and whether an item is validated.
// Why: docs/decisions/0030-the-client-handles-text.md

import { readObject } from "./item-text.ts";

/** An item with the fields that the clients in the REST tutorial use, and any other fields. */
export interface TodoItem {
  ID: string;
  Name?: string;
  Notes?: string;
  Done?: boolean;
  [field: string]: unknown;
}

/** An item to create. If it has no ID, the client generates one. */
export type NewItem<Item> = Item | (Item extends string ? never : Omit<Item, "ID" | "Id" | "id"> & Partial<Item>);

export interface ItemCodec<Item> {
  /** Receives the text of one JSON object. */
  parse(json: string): Item;
  /** Returns the text of one JSON object. */
  stringify(item: NewItem<Item>): string;
}

/** The default: `JSON.parse` and `JSON.stringify`. Numbers become doubles, as usual in JavaScript. */
export function plainValues<Item>(): ItemCodec<Item> {
  // `JSON.stringify` returns no text for an item that somebody has forgotten to return.
  return { parse: (json) => JSON.parse(json) as Item, stringify: (item) => JSON.stringify(item) ?? "null" };
}

/** Items stay JSON text. Every character is kept, except for insignificant white space. */
export const jsonText: ItemCodec<string> = {
  parse: (json) => readObject(json).text,
  stringify: (json) => json,
};
