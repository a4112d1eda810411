// What a to-do item is: a JSON object with an ID. Every other field belongs to the client and is kept exactly as it
// was sent (see json-text.ts).

import { ItemError } from "./item-error.ts";
import { scanObject } from "./json-text.ts";
import { type Member, type ObjectText, stringOf } from "./object-text.ts";

/** An item that has its ID, ready to be stored. */
export interface IdentifiedItem {
  /** In the letter case that the client used. */
  readonly id: string;
  /** The whole item as compact JSON, its ID included. */
  readonly json: string;
}

/** An item as it arrived: well-formed, but perhaps without an ID. */
export interface TodoItemDraft {
  readonly id: string | undefined;
  readonly object: ObjectText;
}

/** Objects and arrays in an item may be nested this deeply, the item itself included. */
export const nestingDepthMax = 64;

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const idExample = "54b4c1f2-0f8e-4a6b-9d3c-2f1a7e5b8c90";

export function isItemId(text: string): boolean {
  return idPattern.test(text);
}

/** The key for look-ups: the ID in lower case. IDs that differ only in letter case are the same ID. */
export function idKey(id: string): string {
  return id.toLowerCase();
}

/** Checks the ID from a URL path. `segment` is already percent-decoded. */
export function parsePathId(segment: string): string {
  if (isItemId(segment)) return segment;
  throw new ItemError(
    "TodoItemIDInvalid",
    `The ID in the path is not a UUID: send 36 characters of hexadecimal digits and hyphens, such as ${idExample}.`,
  );
}

export function parseTodoItem(text: string): TodoItemDraft {
  const object = scanObject(text, nestingDepthMax);
  const idMember = findIdMember(object);
  return { id: idMember && readId(object, idMember), object };
}

/**
 * Takes the item's ID from the body or the path. Throws if their IDs differ. If neither has an ID, creates one if
 * `mint` is true, and throws otherwise.
 */
export function identify(draft: TodoItemDraft, pathId: string | undefined, mint: boolean): IdentifiedItem {
  checkAgainstPath(draft, pathId);
  if (draft.id !== undefined) return { id: draft.id, json: draft.object.text };
  if (pathId === undefined && !mint) {
    throw new ItemError(
      "TodoItemIDRequired",
      `An update needs the item's ID: send it in the body's field "${idNameOf(draft.object)}", or in the path.`,
    );
  }
  const id = pathId ?? crypto.randomUUID();
  return { id, json: withId(draft.object, id) };
}

/** Throws if the body and the path have different IDs (specification, Endpoints, rule 1). */
export function checkAgainstPath(draft: TodoItemDraft, pathId: string | undefined): void {
  if (draft.id === undefined || pathId === undefined || idKey(draft.id) === idKey(pathId)) return;
  throw new ItemError(
    "TodoItemIDMismatch",
    `The body's ID ${draft.id} is not the path's ID ${pathId}: send the same ID in both, or leave it out of the body.`,
  );
}

function findIdMember(object: ObjectText): Member | undefined {
  let found: Member | undefined;
  for (const member of object.members) {
    if (!isIdName(object.name(member))) continue;
    if (found) {
      throw new ItemError(
        "TodoItemIDAmbiguous",
        `The item names its ID twice, as ${object.nameLiteral(found)} and ${object.nameLiteral(member)}: send one of them only.`,
      );
    }
    found = member;
  }
  return found;
}

/** One family of clients sends `ID`, the other `id`; `Id` and `iD` are accepted too. */
export function isIdName(name: string): boolean {
  return name.length === 2 && name.toLowerCase() === "id";
}

function readId(object: ObjectText, member: Member): string | undefined {
  const literal = object.value(member);
  if (literal === "null") return undefined;
  const id = stringOf(literal) ?? "";
  if (isItemId(id)) return id;
  throw new ItemError(
    "TodoItemIDInvalid",
    `The field ${object.nameLiteral(member)} is not a UUID: send a string of 36 hexadecimal digits and hyphens, such as "${idExample}".`,
  );
}

/** The item's text with this ID as its first field, in place of any ID it had. */
export function withId(object: ObjectText, id: string): string {
  const before = object.members.filter((member) => isIdName(object.name(member)));
  // An ID needs no escaping. JSON.stringify is not used here, because reading an item would then take a tenth longer.
  return object.withFirst(`"${idNameOf(object)}":"${id}"`, before);
}

/**
 * What the ID of this item should be called: `id` if the first other name begins with a lower-case letter, otherwise
 * `ID`. Clients distinguish letter case, and those that send names like `name` expect `id`.
 */
function idNameOf(object: ObjectText): "id" | "ID" {
  const firstName = object.find((name) => !isIdName(name));
  return firstName && startsInLowerCase(object.name(firstName)) ? "id" : "ID";
}

function startsInLowerCase(name: string): boolean {
  const [first = ""] = name;
  return first === first.toLowerCase() && first !== first.toUpperCase();
}
