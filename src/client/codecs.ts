// How an item's JSON text becomes a value and back. The client itself only handles text, so a codec
// decides everything about values: how exact numbers are, which type an item has, whether it is checked.

import { scanObject } from "../items/json-text.ts";
import { nestingDepthMax } from "./json-members.ts";

/** The fields that the tutorial's clients use, and any other. */
export interface TodoItem {
  ID: string;
  Name?: string;
  Notes?: string;
  Done?: boolean;
  [field: string]: unknown;
}

/** An item to be created: its ID may be left out, and is then made by the client. */
export type NewItem<Item> = Item | (Item extends string ? never : Omit<Item, "ID" | "Id" | "id"> & Partial<Item>);

export interface ItemCodec<Item> {
  /** Takes the text of one JSON object. */
  parse(json: string): Item;
  /** Gives the text of one JSON object. */
  stringify(item: NewItem<Item>): string;
}

/** The usual one: `JSON.parse` and `JSON.stringify`. Numbers become doubles, as everywhere in JavaScript. */
export function plainValues<Item>(): ItemCodec<Item> {
  return { parse: (json) => JSON.parse(json) as Item, stringify: (item) => JSON.stringify(item) };
}

/** Items stay the JSON text they are, to the character; only insignificant white space is dropped. */
export const jsonText: ItemCodec<string> = {
  parse: (json) => scanObject(json, nestingDepthMax).text,
  stringify: (json) => json,
};

/** A number that no JavaScript number or bigint stands for exactly, kept as its digits: `1.0`, `1e400`, `-0`. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  /** The nearest double, so that it can be compared and added; that may round. */
  valueOf(): number {
    return Number(this.text);
  }
}

/**
 * Values with exact numbers: a `number` where that prints as it was written, a `bigint` for longer integers,
 * a `NumberText` for the rest. What was read is written back digit by digit.
 */
export function exactNumbers<Item>(): ItemCodec<Item> {
  return { parse: (json) => parseExact(json) as Item, stringify: stringifyExact };
}

// A number or a string, whichever comes first: so digits inside strings are stepped over.
const numberOrString = /"(?:[^"\\]|\\.)*"|-?[0-9](?:[0-9.eE+-])*/g;

// Every number in the text is replaced by its place in a list beside it, so nothing in the document can be
// mistaken for such a place; JSON.parse does the rest.
function parseExact(json: string): unknown {
  JSON.parse(json);
  const numbers: unknown[] = [];
  const indexed = json.replace(numberOrString, (token) =>
    token.startsWith('"') ? token : String(numbers.push(exactNumber(token)) - 1),
  );
  return JSON.parse(indexed, (_name, value: unknown) => (typeof value === "number" ? numbers[value] : value));
}

function exactNumber(text: string): number | bigint | NumberText {
  if (String(Number(text)) === text) return Number(text);
  return /^-?[1-9][0-9]*$/.test(text) ? BigInt(text) : new NumberText(text);
}

function stringifyExact(value: unknown): string {
  const numbers: string[] = [];
  const indexed = JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part === "number" && Number.isFinite(part)) return numbers.push(JSON.stringify(part)) - 1;
    if (typeof part === "bigint" || part instanceof NumberText) return numbers.push(String(part)) - 1;
    return part;
  });
  return indexed.replace(numberOrString, (token) =>
    token.startsWith('"') ? token : (numbers[Number(token)] ?? token),
  );
}
