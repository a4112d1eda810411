// The profile file: servers and credentials that a user does not want to type each time.

import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { isSystemError, systemReason } from "../files/system-reason.ts";
import { ItemError } from "../items/item-error.ts";
import { scanObject } from "../items/json-text.ts";
import type { Environment } from "../terminal/environment.ts";
import { UsageError } from "./command.ts";
import { remark } from "./output.ts";

export interface Profile {
  readonly server?: string;
  readonly username?: string;
  readonly password?: string;
  readonly form?: string;
  readonly ca?: string;
}

const knownNames = ["server", "username", "password", "form", "ca"];

/** The path of the file with the user's profiles. The file may not exist. */
export function profilePath(environment: Environment, platform = process.platform): string {
  if (platform === "win32")
    return join(environment["APPDATA"] ?? join(homedir(), "AppData", "Roaming"), "todoitems", "profiles.json");
  return join(environment["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "todoitems", "profiles.json");
}

/**
 * The profile with this name. Throws if there is none. If no name is given, the profile called `default`, or an empty
 * profile if there is no `default`.
 */
export function readProfile(name: string | undefined, environment: Environment): Profile {
  const path = profilePath(environment);
  const text = readIfExists(path);
  if (text === undefined) {
    if (name === undefined) return {};
    throw new UsageError(`There is no profile ${name}, because there is no file ${path}.${portHint(name)}`);
  }
  const profiles = new Map(Object.entries(parseProfiles(path, text)));
  const profile = profiles.get(name ?? "default");
  if (profile === undefined && name === undefined) return {};
  if (profile === undefined)
    throw new UsageError(
      `${path} has no profile called ${name}. Its profiles: ${[...profiles.keys()].join(", ") || "none"}.${portHint(name ?? "")}`,
    );
  if (typeof profile !== "object" || profile === null)
    throw new UsageError(
      `${path}: the profile ${name ?? "default"} is not an object. A profile may have ${knownNames.join(", ")}; each is a text.`,
    );
  for (const [field, value] of Object.entries(profile))
    if (!knownNames.includes(field) || typeof value !== "string")
      throw new UsageError(
        `${path}: the profile ${name ?? "default"} has a wrong entry, ${field}. A profile may have ${knownNames.join(", ")}; each is a text.`,
      );
  if ("password" in profile) warnIfReadable(path);
  return profile;
}

/** A hint for users who give a port with -p, as in many other programs. Here, -p takes the name of a profile. */
function portHint(name: string): string {
  return Number.isInteger(Number(name || "none")) ? ` For a port, use --server http://127.0.0.1:${name}/` : "";
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isSystemError(error) && error.code === "ENOENT") return undefined;
    throw new UsageError(`${path}: the profile file cannot be read: ${systemReason(error)}.`);
  }
}

function parseProfiles(path: string, text: string): object {
  // Some editors on Windows write a byte order mark.
  const json = text.startsWith("\ufeff") ? text.slice(1) : text;
  try {
    const profiles = JSON.parse(json) as unknown;
    if (typeof profiles === "object" && profiles !== null && !Array.isArray(profiles)) return profiles;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`${path}: ${mistakeIn(json)}`);
  }
  throw new UsageError(`${path}: expected JSON such as {"default":{"server":"http://localhost:5000/"}}.`);
}

/** What is wrong with this JSON, with line and column. The message of `JSON.parse` does not say where the mistake is. */
function mistakeIn(json: string): string {
  try {
    scanObject(json);
  } catch (error) {
    if (error instanceof ItemError) return error.message;
    throw error;
  }
  return "The document is not valid JSON.";
}

function warnIfReadable(path: string): void {
  if (process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0)
    remark(`warning: ${path} contains a password, and other users can read it. Run: chmod 600 "${path}"`);
}
