// Reads flags and environment variables into one frozen `Settings` object, or lists everything that is wrong with them.

import { type Environment, variableOf } from "../terminal/environment.ts";
import { type FlagShape, parseFlags } from "../terminal/flags.ts";
import { asTyped } from "../terminal/program-name.ts";
import { closest } from "../terminal/suggestion.ts";
import { WrongValue } from "./setting-values.ts";
import { brokenRules, type Definition, definitions, idleSettings, implied, type Settings } from "./settings-table.ts";

const names = Object.keys(definitions) as (keyof Settings)[];

/** The settings as flags, with their defaults in parentheses. */
export const settingFlags = Object.values<Definition>(definitions).map(
  ({ flag, placeholder = "", default: standard = "", meaning }) => {
    const suffix = standard === "" || standard === "off" ? "" : ` (${standard})`;
    return { name: flag, placeholder, meaning: `${meaning.replaceAll("`", "")}${suffix}` };
  },
);

export type SettingsResult =
  | { readonly settings: Settings; readonly warnings: readonly string[] }
  | { readonly problems: readonly string[] };

/**
 * Flags override environment variables, which override defaults. `otherVariables` lists the environment variables that
 * only other commands read. They are not reported as unknown.
 */
export function readSettings(
  args: readonly string[],
  environment: Environment,
  otherVariables: readonly string[] = [],
): SettingsResult {
  const { flags, problems } = readFlags(args);
  const given = new Set<keyof Settings>();
  const read = (name: keyof Settings): unknown => {
    const definition: Definition = definitions[name];
    const standard = definition.default ?? "";
    const variable = variableOf(definition.flag);
    const fromFlag = flags.get(definition.flag);
    // An empty variable counts as not set, because compose files and shells often pass an empty variable for a missing
    // value.
    const fromEnvironment = environment[variable] || undefined;
    if (fromFlag || fromEnvironment !== undefined) given.add(name);
    try {
      return definition.parse(fromFlag ?? fromEnvironment ?? standard);
    } catch (error) {
      if (!(error instanceof WrongValue)) throw error;
      const source = fromFlag === undefined ? `${variable}=${fromEnvironment}` : `--${definition.flag} ${fromFlag}`;
      problems.push(`${withoutPassword(source)}: ${error.message}`);
      return definition.parse(standard);
    }
  };
  const stated = Object.fromEntries(names.map((name) => [name, read(name)])) as unknown as Settings;
  const settings = Object.freeze(implied(stated, given));
  problems.push(...brokenRules(settings, given));
  return problems.length > 0
    ? { problems }
    : {
        settings,
        warnings: [
          ...unknownVariables(environment, otherVariables),
          ...takenByNpm(environment),
          ...idleSettings(settings),
        ],
      };
}

function readFlags(args: readonly string[]): { flags: Map<string, string>; problems: string[] } {
  const { values, positionals, problems } = parseFlags(settingFlags, args);
  const advice = "A setting is a flag, as in --port 8080; after npm start, as in npm start -- --port 8080";
  const unexpected = positionals.map((word) => `${word}: unexpected. ${advice}`);
  return {
    flags: new Map(settingFlags.flatMap((shape) => nameAndValue(shape, values.get(shape.name)))),
    problems: [...problems, ...unexpected],
  };
}

/**
 * The name and the value of a flag, or nothing if it was not given. If it was given several times, lists are joined:
 * `--cors A --cors B` is `--cors A,B`. Of any other flag, the last one counts, so that it can override a flag in an
 * alias or a script.
 */
function nameAndValue({ name, placeholder }: FlagShape, texts: readonly string[] = []): [string, string][] {
  const value = placeholder.includes("[,") && texts.length > 0 ? texts.join(",") : texts.at(-1);
  return value === undefined ? [] : [[name, value]];
}

const prefix = "TODOITEMS_";

/** Names the variables that look like settings, but that neither `serve` nor another command reads. */
function unknownVariables(environment: Environment, otherVariables: readonly string[]): string[] {
  const known = new Set([...Object.values(definitions).map(({ flag }) => variableOf(flag)), ...otherVariables]);
  const unknown = Object.keys(environment).filter((name) => name.startsWith(prefix) && !known.has(name));
  return unknown.map((name) => {
    // Compare the names without their common prefix, because it would make all names look alike.
    const names = [...known].map((one) => one.slice(prefix.length));
    const meant = closest(name.slice(prefix.length), names);
    const advice =
      meant === undefined ? `${asTyped("help serve")} lists the settings` : `Did you mean ${prefix}${meant}?`;
    return `${name} is not a setting and is ignored. ${advice}`;
  });
}

/**
 * Warns about flags that npm took. `npm start --demo` gives the flag to npm, which puts it into an environment
 * variable.
 */
function takenByNpm(environment: Environment): string[] {
  const taken = Object.values<Definition>(definitions).filter(
    ({ flag }) => environment[`npm_config_${flag.replaceAll("-", "_")}`] !== undefined,
  );
  return taken.map(
    ({ flag, placeholder = "" }) =>
      `npm took --${flag} for itself, so it had no effect. Put -- before it, as in: npm start -- ${`--${flag} ${placeholder}`.trimEnd()}`,
  );
}

/** Hides the password in a URL, because this text is printed where others may read it. */
function withoutPassword(text: string): string {
  return text.replace(/^([^:]*:\/\/[^:@/]*):.*@/s, "$1:…@");
}
