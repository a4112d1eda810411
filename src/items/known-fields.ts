// Which field of an item is its name, its notes and its done mark. Apps call these fields by different names, and mark
// an item as done in different ways. The page and the commands both ask here, so that they show the same.

import { doneMark, isDoneMark } from "./done-mark.ts";
import { scanObject } from "./json-text.ts";
import { type Member, type ObjectText, stringOf } from "./object-text.ts";

export type KnownField = "name" | "notes" | "done";

/**
 * The names that apps use, in lower case; an item may write them in any letter case. If an item has several of them,
 * the one that is listed first counts.
 */
const names: Readonly<Record<KnownField, readonly string[]>> = {
  name: ["name", "title", "task", "summary", "text"],
  notes: ["notes", "note", "description"],
  done: ["done", "completed", "isdone", "iscomplete", "iscompleted"],
};

/** What a field with this name means. Undefined for all other fields. */
export function meaningOf(name: string): KnownField | undefined {
  const lower = name.toLowerCase();
  return (["name", "notes", "done"] as const).find((field) => names[field].includes(lower));
}

/** The member that is the item's name, notes or done mark. Undefined if the item has none. */
export function knownMember(object: ObjectText, field: KnownField): Member | undefined {
  const ranks = object.members.map((member) => names[field].indexOf(object.name(member).toLowerCase()));
  const best = Math.min(...ranks.filter((rank) => rank >= 0));
  return object.members[ranks.indexOf(best)];
}

/** An item as people see it. A value that is not a string is shown as its JSON text; null and a missing one as "". */
export function knownFields(object: ObjectText): {
  readonly name: string;
  readonly notes: string;
  readonly done: boolean;
} {
  const json = (field: KnownField) => {
    const member = knownMember(object, field);
    return member && object.value(member);
  };
  const done = isDoneMark(json("done"));
  return { name: textOf(json("name")), notes: textOf(json("notes")), done };
}

/** A JSON value for people to read: a string without its quotes, and an empty text for null and a missing value. */
export function textOf(json: string | undefined): string {
  return json === undefined || json === "null" ? "" : (stringOf(json) ?? json);
}

/**
 * The item's text with other values for these fields. A field that the item lacks is added, spelled as `missing` says.
 * A done mark keeps its kind: an app that writes 0 and 1 reads 0 and 1.
 */
export function withKnownFields(
  json: string,
  values: { readonly name?: string; readonly notes?: string; readonly done?: boolean },
  missing: Readonly<Record<KnownField, string>>,
): string {
  let text = json;
  for (const field of ["name", "notes", "done"] as const) {
    const value = values[field];
    if (value === undefined) continue;
    const object = scanObject(text);
    const member = knownMember(object, field);
    const before = member && object.value(member);
    text = object.withField(
      member,
      missing[field],
      typeof value === "boolean" ? doneMark(value, before) : JSON.stringify(value),
    );
  }
  return text;
}
