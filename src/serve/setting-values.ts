// Parses the text of a setting. If a parser refuses a text, its error says which texts are accepted.

import { isIPv6 } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { isProtected } from "../credentials/provider-keys.ts";
import {
  isPostgresUrl,
  type PostgresAddress,
  PostgresAddressError,
  parsePostgresUrl,
} from "../engines/postgres/postgres-address.ts";
import type { AllowedOrigins } from "../http/cors.ts";

/** The value cannot be used. The message says which values can. */
export class WrongValue extends Error {
  override readonly name = "WrongValue";
}

/**
 * An address or host name, in the spelling that URLs have: `Localhost` is `localhost`, and `0:0:0:0:0:0:0:1` is `::1`. An
 * IPv6 address may be in brackets.
 */
export function hostAddress(value: string): string {
  const text = value.trim().replace(/^\[(.*)\]$/, "$1");
  const { hostname } = (isIPv6(text) && URL.parse(`http://[${text}]`)) || { hostname: text };
  const address = hostname
    .replace(/^\[(.*)\]$/, "$1")
    .toLowerCase()
    .replace(/\.$/, "");
  if (address === "") throw new WrongValue("expected an address such as localhost or 0.0.0.0");
  return address;
}

const hostNamePattern = /^[0-9a-z_]([0-9a-z_-]*[0-9a-z_])?(\.[0-9a-z_]([0-9a-z_-]*[0-9a-z_])?)*$/i;

/** Reads words with commas between them. Returns an empty list for an empty text. */
function wordList(isRight: (word: string) => boolean, expected: string): (value: string) => readonly string[] {
  return (value) => {
    const words = value === "" ? [] : value.split(",").map((word) => word.trim());
    if (words.every(isRight)) return words;
    throw new WrongValue(`expected ${expected}, with commas between them`);
  };
}

export const hostNames = wordList(
  (name) => name === "*" || hostNamePattern.test(name),
  "* or host names such as todo.example, without a port",
);

export const fieldList = wordList((name) => name !== "", "field names such as Name,Notes");

/** The address of an identity provider. It stays as it was typed, because it is compared byte for byte. */
export function issuerAddress(value: string): string | undefined {
  const url = URL.parse(value);
  const isPlain = /^[!-~]+$/.test(value) && url && url.search + url.hash + url.username + url.password === "";
  if (value === "" || (isPlain && isProtected(url))) return value || undefined;
  throw new WrongValue(
    "expected an address such as https://login.example: https:, or http: on this machine, without a query",
  );
}

export function integer(min: number, max: number, noun = "whole number"): (value: string) => number {
  return (value) => {
    const number = /^[0-9]+$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new WrongValue(`expected a ${noun} from ${min} to ${max}`);
  };
}

/** Undefined for `off`. */
export function orOff<Value>(parse: (value: string) => Value): (value: string) => Value | undefined {
  return (value) => {
    try {
      return value === "off" ? undefined : parse(value);
    } catch (error) {
      throw error instanceof WrongValue ? new WrongValue(`${error.message}, or off`) : error;
    }
  };
}

/** Undefined if the text is empty. */
export function optionalText(value: string): string | undefined {
  return value === "" ? undefined : value;
}

export const portOrOff = orOff(integer(0, 65_535, "port"));

export function oneOf<const Choice extends string>(choices: readonly Choice[]): (value: string) => Choice {
  return (value) => {
    const choice = choices.find((candidate) => candidate === value);
    if (choice !== undefined) return choice;
    throw new WrongValue(`expected one of ${choices.join(", ")}`);
  };
}

export function onOff(value: string): boolean {
  if (["on", "true", "yes", "1"].includes(value.toLowerCase())) return true;
  if (["off", "false", "no", "0"].includes(value.toLowerCase())) return false;
  throw new WrongValue("expected on (or true, yes, 1) or off (or false, no, 0)");
}

export function allowedOrigins(value: string): AllowedOrigins | undefined {
  if (value === "off") return undefined;
  if (value === "*") return "*";
  return new Set(value.split(",").map((origin) => parseOrigin(origin.trim())));
}

/** Spells an origin as browsers send it: in lower case, without a path and without a default port. */
function parseOrigin(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url && ["http:", "https:"].includes(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new WrongValue(
    "expected off, *, or origins such as https://app.example or http://localhost:8100, with commas between them",
  );
}

export function ratePerSecond(value: string): number {
  const number = Number(/^([0-9]+)(?:\/s)?$/.exec(value)?.[1] ?? Number.NaN);
  if (number >= 1 && number <= 1_000_000) return number;
  throw new WrongValue("expected a whole number of requests a second such as 100/s");
}

const unitBytes: Readonly<Record<string, number>> = { "": 1, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3 };

export function byteSize(max: number): (value: string) => number {
  return (value) => {
    const [, digits = "", unit = ""] = /^([0-9]+) ?([a-z]*)$/i.exec(value) ?? [];
    const bytes = Number(digits) * (unitBytes[unit.toLowerCase()] ?? Number.NaN);
    if (digits !== "" && bytes >= 1 && bytes <= max) return bytes;
    throw new WrongValue(`expected a size from 1 to ${max} bytes, such as 4096, 4KiB or 1MiB`);
  };
}

export type StoreAddress =
  | { readonly engine: "memory" }
  | { readonly engine: "sqlite"; readonly path: string }
  | ({ readonly engine: "postgres" } & PostgresAddress);

export function storeAddress(value: string): StoreAddress {
  if (value === "memory:") return { engine: "memory" };
  if (isPostgresUrl(value)) return { engine: "postgres", ...postgresAddress(value) };
  const path = value.startsWith("sqlite:") ? value.slice("sqlite:".length) : "";
  // A shell expands `~` only at the beginning of a word, and not after `sqlite:`. So expand it here.
  if (path.startsWith("~/")) return { engine: "sqlite", path: join(homedir(), path.slice(2)) };
  if (path !== "") return { engine: "sqlite", path };
  throw new WrongValue(
    `expected memory:, sqlite:PATH, such as sqlite:todoitems.db, or postgres://USER:PASSWORD@HOST/DATABASE`,
  );
}

function postgresAddress(value: string): PostgresAddress {
  try {
    return parsePostgresUrl(value);
  } catch (error) {
    if (error instanceof PostgresAddressError) throw new WrongValue(error.message);
    throw error;
  }
}
