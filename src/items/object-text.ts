// A JSON object as compact text, with the offsets of its members. Callers do not use the offsets: they ask for a name
// or a value, and get exactly the characters that were written.

/** One member of an object. It is valid only for the `ObjectText` it belongs to. */
export interface Member {
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

export class ObjectText {
  readonly text: string;
  /** In the order of the text. Names may repeat. */
  readonly members: readonly Member[];

  constructor(text: string, members: readonly Member[]) {
    this.text = text;
    this.members = members;
  }

  name(member: Member): string {
    return unquote(this.nameLiteral(member));
  }

  /** The name as it is written, with its quotes and escapes. */
  nameLiteral({ nameStart, nameEnd }: Member): string {
    return this.text.slice(nameStart, nameEnd);
  }

  /** The JSON text of the value. */
  value({ valueStart, valueEnd }: Member): string {
    return this.text.slice(valueStart, valueEnd);
  }

  /** The first member whose name fits. */
  find(fits: (name: string) => boolean): Member | undefined {
    return this.members.find((member) => fits(this.name(member)));
  }

  /** Each name with the JSON text of its value. */
  entries(): [name: string, value: string][] {
    return this.members.map((member) => [this.name(member), this.value(member)]);
  }

  /** The values by name. If a name repeats, its last value counts, as in `JSON.parse`. */
  toMap(): ReadonlyMap<string, string> {
    return new Map(this.entries());
  }

  /** The text with another value for this member. */
  withValue({ valueStart, valueEnd }: Member, json: string): string {
    return this.text.slice(0, valueStart) + json + this.text.slice(valueEnd);
  }

  /** The text with one more member, at the end. */
  withMember(name: string, json: string): string {
    return `${this.text.slice(0, -1)}${this.members.length > 0 ? "," : ""}${JSON.stringify(name)}:${json}}`;
  }

  /** The text with `json` as the value of `found`. If `found` is undefined, a new member called `name` is added. */
  withField(found: Member | undefined, name: string, json: string): string {
    return found ? this.withValue(found, json) : this.withMember(name, json);
  }

  /** The text with one more member at the start, given as `"name":value`, and without the `dropped` members. */
  withFirst(nameAndValue: string, dropped: readonly Member[]): string {
    const rest =
      dropped.length === 0
        ? this.text.slice(1, -1)
        : this.members
            .filter((member) => !dropped.includes(member))
            .map(({ nameStart, valueEnd }) => this.text.slice(nameStart, valueEnd))
            .join(",");
    return `{${nameAndValue}${rest === "" ? "" : ","}${rest}}`;
  }
}

/** The value of a JSON string literal. The literal includes its quotes. */
export function unquote(literal: string): string {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  return String(JSON.parse(literal));
}

/** The value of a JSON string. Undefined if `json` is missing or is not a string. */
export function stringOf(json: string | undefined): string | undefined {
  return json?.startsWith('"') ? unquote(json) : undefined;
}
