// What a to-do item is: a JSON object with an ID. Everything else in it belongs to the client and is
// kept to the letter (see json-text.ts).

import { ItemError } from "./item-error.ts";
import { type Member, type ObjectText, scanObject, unquote } from "./json-text.ts";

export interface TodoItem {
  /** As the client spelled it. */
  readonly id: string;
  /** The whole item as compact JSON, its ID included. */
  readonly json: string;
}

/** An item as it arrived: well-formed, but perhaps without an ID of its own. */
export interface TodoItemDraft {
  readonly id: string | undefined;
  readonly object: ObjectText;
  /** Where the ID stands in the object, if it is there at all; its value may be null. */
  readonly idMember: Member | undefined;
}

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const idExample = "54b4c1f2-0f8e-4a6b-9d3c-2f1a7e5b8c90";

function isItemId(text: string): boolean {
  return idPattern.test(text);
}

/** IDs that differ only in letter case are the same ID; this is the spelling used for look-ups. */
export function idKey(id: string): string {
  return id.toLowerCase();
}

/** Reads the ID in a URL path, after percent-decoding. */
export function parsePathId(segment: string): string {
  if (isItemId(segment)) return segment;
  throw new ItemError(
    "TodoItemIDInvalid",
    `The ID in the path is not a UUID: send 36 characters of hexadecimal digits and hyphens, such as ${idExample}.`,
  );
}

export function parseTodoItem(text: string, depthMax: number): TodoItemDraft {
  const object = scanObject(text, depthMax);
  const idMember = findIdMember(object);
  return { id: idMember && readId(object.text.slice(idMember.valueStart, idMember.valueEnd)), object, idMember };
}

/** Settles an item's ID between body and path. An item with neither gets a new one if `mint` allows it. */
export function identify(draft: TodoItemDraft, pathId: string | undefined, mint: boolean): TodoItem {
  checkAgainstPath(draft, pathId);
  if (draft.id !== undefined) return { id: draft.id, json: draft.object.text };
  if (pathId === undefined && !mint) {
    throw new ItemError(
      "TodoItemIDRequired",
      `An update needs the item's ID: send it in the body's field "ID", or in the path.`,
    );
  }
  const id = pathId ?? crypto.randomUUID();
  return { id, json: putIdFirst(draft, id) };
}

/** Specification, Endpoints, rule 1: in form A the path id is the ID of the item carried in the body. */
export function checkAgainstPath(draft: TodoItemDraft, pathId: string | undefined): void {
  if (draft.id === undefined || pathId === undefined || idKey(draft.id) === idKey(pathId)) return;
  throw new ItemError(
    "TodoItemIDMismatch",
    `The body's ID ${draft.id} is not the path's ID ${pathId}: send the same ID in both, or leave it out of the body.`,
  );
}

function findIdMember({ text, members }: ObjectText): Member | undefined {
  let found: Member | undefined;
  for (const member of members) {
    if (!isIdName(unquote(text.slice(member.nameStart, member.nameEnd)))) continue;
    if (found) {
      const names = [found, member].map(({ nameStart, nameEnd }) => text.slice(nameStart, nameEnd));
      throw new ItemError(
        "TodoItemIDAmbiguous",
        `The item names its ID twice, as ${names.join(" and ")}: send one of them only.`,
      );
    }
    found = member;
  }
  return found;
}

// One family of real clients sends `ID`, the other `id`; a third spelling costs nothing.
export function isIdName(name: string): boolean {
  return name.length === 2 && name.toLowerCase() === "id";
}

function readId(literal: string): string | undefined {
  if (literal === "null") return undefined;
  const id = literal.startsWith('"') ? unquote(literal) : "";
  if (isItemId(id)) return id;
  throw new ItemError(
    "TodoItemIDInvalid",
    `The field "ID" is not a UUID: send a string of 36 hexadecimal digits and hyphens, such as "${idExample}".`,
  );
}

function putIdFirst({ object: { text, members }, idMember }: TodoItemDraft, id: string): string {
  const rest = members
    .filter((member) => member !== idMember)
    .map((member) => text.slice(member.nameStart, member.valueEnd));
  return `{${[`"ID":"${id}"`, ...rest].join(",")}}`;
}
