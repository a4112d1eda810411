// The text of a new item. It has the field names of the other items, in their order, because an app expects these.

import type { FieldNames } from "../items/field-names.ts";
import { scanObject } from "../items/json-text.ts";
import { type KnownField, knownMember, withKnownFields } from "../items/known-fields.ts";
import type { ObjectText } from "../items/object-text.ts";
import type { NewEntry } from "./pasted-lines.ts";

type Names = Readonly<Record<KnownField, string>>;

const pascal: Names = { name: "Name", notes: "Notes", done: "Done" };
const camel: Names = { name: "name", notes: "notes", done: "done" };

/** The names of the known fields that an item lacks, spelled like its other fields. */
export function missingNames(object: ObjectText): Names {
  const [first] = object.members.map((member) => object.name(member).charAt(0));
  return first !== undefined && first !== first.toUpperCase() ? camel : pascal;
}

/** The text of a new item, without an ID. `like` is another item of the list, if there is one. */
export function newItem({ name, done }: NewEntry, like: string | undefined, style: FieldNames): string {
  const object = scanObject(like ?? "{}");
  const missing = like === undefined && style === "camel" ? camel : missingNames(object);
  const known = (["name", "notes", "done"] as const).map((field) => knownMember(object, field));
  const [itsName, itsNotes] = known;
  // An app that calls its name field `title`, say, may not expect a field called `notes`.
  const hasNotes = itsNotes || !itsName || object.name(itsName) === missing.name;
  const kept = object.members.filter((member) => known.includes(member));
  const members = kept.map((member) => `${object.nameLiteral(member)}:${object.value(member)}`);
  return withKnownFields(`{${members.join()}}`, { name, ...(hasNotes && { notes: "" }), done }, missing);
}
