// The first line of a CSV file, which names the fields. A file that begins with an item instead would give every item
// fields such as `Buy milk`, so a line that cannot be a header is refused.

import { isIdName, isItemId } from "../../items/todo-item.ts";
import { isDoneField, isNameField } from "../fields.ts";
import { remark } from "../output.ts";
import { literalOf, nameInHeading } from "./csv.ts";
import { CsvError } from "./csv-reader.ts";

const headerAdvice = "The first line must name the fields, as in: ID,Name,Notes,Done. ID may be left out";

/**
 * Checks the first line of a file, and returns the names of the columns: undefined for a column without a name. `line`
 * is the number of the line, for messages.
 */
export function checkedHeader(headings: readonly string[], line: number): readonly (string | undefined)[] {
  const columns = headings.map(nameInHeading);
  const names = columns.filter((name) => name !== undefined);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined)
    throw new CsvError(line, `two columns are called ${repeated}. The first line must name each column once`);
  if (names.some((name) => isIdName(name) || isNameField(name) || isDoneField(name))) return columns;
  const value = names.find((name) => isItemId(name) || literalOf("", name) !== undefined);
  if (value !== undefined) throw new CsvError(line, `${value} is a value and not the name of a field. ${headerAdvice}`);
  // Items may have any fields, so these may be names. So this is only a warning.
  remark(`warning: Line ${line} is taken for the names of the fields: ${names.join(", ")}. ${headerAdvice}.`);
  return columns;
}
