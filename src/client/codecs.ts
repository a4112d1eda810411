// A codec turns an item's JSON text into a value and back. The client itself handles only text. So the codec decides
// how exact numbers are, which type an item has, and whether an item is validated.

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
  return { parse: (json) => JSON.parse(json) as Item, stringify: (item) => JSON.stringify(item) };
}

/** Items stay JSON text. Every character is kept, except for insignificant white space. */
export const jsonText: ItemCodec<string> = {
  parse: (json) => readObject(json).text,
  stringify: (json) => json,
};

/**
 * The text of a number that would be written differently after becoming a JavaScript number or bigint. Examples are
 * `1.0`, `1e400` and `-0`.
 */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  /** The nearest double, for comparisons and arithmetic. */
  valueOf(): number {
    return Number(this.text);
  }
}

/**
 * Parses numbers without losing digits. A number becomes a `number` if that prints exactly as the original text. A
 * longer integer becomes a `bigint`, and anything else a `NumberText`. Every number is written back exactly as it was
 * read.
 */
export function exactNumbers<Item>(): ItemCodec<Item> {
  return { parse: (json) => parseExact(json) as Item, stringify: stringifyExact };
}

// Matches strings as well as numbers, so that digits inside strings are skipped.
const numberOrString = /"(?:[^"\\]|\\.)*"?|-?[0-9](?:[0-9.eE+-])*/g;

// The first `JSON.parse` only checks the text. Then every number in the text is replaced with its index in `numbers`.
// So every number that the second `JSON.parse` finds is an index, and it becomes the exact number again.
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
