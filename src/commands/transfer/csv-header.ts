// The first line of a CSV file, which names the fields. A file that begins with an item instead would give every item
// fields such as `Buy milk`, so a line that cannot be a header is refused.

import { isIdName, isItemId } from "../../items/todo-item.ts";
import { isDoneField, isNameField } from "../fields.ts";
import { remark } from "../output.ts";
import { literalOf } from "./csv.ts";
import { CsvError } from "./csv-reader.ts";

const headerAdvice = "The first line must name the fields, as in: ID,Name,Notes,Done. ID may be left out";

/** Checks the first line of a file, and returns it. `line` is its number, for messages. */
export function checkedHeader(names: readonly string[], line: number): readonly string[] {
  const repeated = names.find((name, index) => name !== "" && names.indexOf(name) !== index);
  if (repeated !== undefined)
    throw new CsvError(line, `two columns are called ${repeated}. The first line must name each column once`);
  if (names.some((name) => isIdName(name) || isNameField(name) || isDoneField(name))) return names;
  const value = names.find((name) => isItemId(name) || literalOf("", name) !== undefined);
  if (value !== undefined) throw new CsvError(line, `${value} is a value and not the name of a field. ${headerAdvice}`);
  // Items may have any fields, so these may be names. So this is only a warning.
  remark(`warning: Line ${line} is taken for the names of the fields: ${names.join(", ")}. ${headerAdvice}.`);
  return names;
}
