// Checks a JSON value against a schema of the description. It knows only the keywords that our schemas use. It throws
// if it meets another keyword, so that no part of a schema is silently ignored. It is stricter than JSON Schema: a member
// that the schema does not name is wrong, unless `additionalProperties` is true. Clients must still expect new members.

import type { Part } from "../../src/description/api-description.ts";

/** Also `maxLength`, because the patterns of our schemas say the same. */
const annotations = new Set(
  "description examples example format title summary x-events maxLength additionalProperties".split(" "),
);

/** Lists what is wrong with the value, each with its path. Empty if the value fits the schema. */
export function mismatches(schema: Part, value: unknown, schemas: Part, path = "$"): string[] {
  // Fields of items may have any type. Their schemas only tell what common apps send.
  if (schema["x-unchecked"] === true) return [];
  const found = Object.entries(schema).flatMap(([keyword, argument]) => {
    if (annotations.has(keyword)) return [];
    const check = checks[keyword];
    if (!check) throw new Error(`the schema has a keyword that this check does not know: ${keyword}`);
    return check(argument, value, schemas, path);
  });
  return [...found, ...unnamedMembers(schema, value).map((name) => `${path} has ${name}, which is not described`)];
}

function unnamedMembers({ properties, additionalProperties }: Part, value: unknown): string[] {
  if (!isPart(properties) || !isPart(value) || additionalProperties === true) return [];
  return Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
}

type Check = (argument: unknown, value: unknown, schemas: Part, path: string) => string[];

const checks: Readonly<Record<string, Check>> = {
  $ref(argument, value, schemas, path) {
    const name = String(argument).replace("#/components/schemas/", "");
    return mismatches(asPart(schemas[name], `schema ${name}`), value, schemas, path);
  },
  type(argument, value, _schemas, path) {
    const types = Array.isArray(argument) ? argument : [argument];
    return types.some((type) => hasType(value, type)) ? [] : [`${path} is not of type ${types.join(" or ")}`];
  },
  oneOf(argument, value, schemas, path) {
    const options = argument as readonly Part[];
    const fitting = options.filter((option) => mismatches(option, value, schemas, path).length === 0);
    return fitting.length === 1 ? [] : [`${path} fits ${fitting.length} of the options, not one`];
  },
  enum: (argument, value, _schemas, path) =>
    (argument as readonly unknown[]).includes(value) ? [] : [`${path} is none of the allowed values: ${value}`],
  minimum: (argument, value, _schemas, path) =>
    typeof value !== "number" || value >= Number(argument) ? [] : [`${path} is less than ${argument}`],
  maximum: (argument, value, _schemas, path) =>
    typeof value !== "number" || value <= Number(argument) ? [] : [`${path} is more than ${argument}`],
  pattern: (argument, value, _schemas, path) =>
    typeof value !== "string" || new RegExp(String(argument)).test(value) ? [] : [`${path} does not match ${argument}`],
  required(argument, value, _schemas, path) {
    if (!isPart(value)) return [];
    // An item is returned with its ID field spelled as it was sent, such as `id`. So any spelling is fine.
    const names = new Set(Object.keys(value).map((name) => (name.toUpperCase() === "ID" ? "ID" : name)));
    return (argument as readonly string[])
      .filter((name) => !names.has(name.toUpperCase() === "ID" ? "ID" : name))
      .map((name) => `${path} has no ${name}`);
  },
  properties(argument, value, schemas, path) {
    if (!isPart(value)) return [];
    return Object.entries(asPart(argument, "properties")).flatMap(([name, schema]) =>
      Object.hasOwn(value, name) ? mismatches(asPart(schema, name), value[name], schemas, `${path}.${name}`) : [],
    );
  },
  items: (argument, value, schemas, path) =>
    Array.isArray(value)
      ? value.flatMap((member, index) => mismatches(asPart(argument, "items"), member, schemas, `${path}[${index}]`))
      : [],
};

function hasType(value: unknown, type: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  if (type === "object") return isPart(value);
  return typeof value === type;
}

function isPart(value: unknown): value is Part {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asPart(value: unknown, what: string): Part {
  if (!isPart(value)) throw new Error(`${what} is missing`);
  return value;
}
