// Reads flags and environment variables into one frozen `Settings` object, or lists everything that is wrong with them.

import { type Environment, variableOf } from "../terminal/environment.ts";
import { parseFlags } from "../terminal/flags.ts";
import { asTyped } from "../terminal/program-name.ts";
import { closest } from "../terminal/suggestion.ts";
import { WrongValue } from "./setting-values.ts";
import { type Definition, definitions, type Settings } from "./settings-table.ts";

const names = Object.keys(definitions) as (keyof Settings)[];

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
    const definition = definitions[name];
    const variable = variableOf(definition.flag);
    const fromFlag = flags.get(definition.flag);
    // An empty variable counts as not set, because compose files and shells often pass an empty variable for a missing
    // value.
    const fromEnvironment = environment[variable] || undefined;
    if (fromFlag !== undefined || fromEnvironment !== undefined) given.add(name);
    try {
      return definition.parse(fromFlag ?? fromEnvironment ?? definition.default);
    } catch (error) {
      if (!(error instanceof WrongValue)) throw error;
      const source = fromFlag === undefined ? `${variable}=${fromEnvironment}` : `--${definition.flag} ${fromFlag}`;
      problems.push(`${withoutPassword(source)}: ${error.message}`);
      return definition.parse(definition.default);
    }
  };
  const settings = Object.freeze(Object.fromEntries(names.map((name) => [name, read(name)]))) as unknown as Settings;
  if (settings.demo && settings.store.engine !== "memory" && given.has("store")) {
    problems.push(
      "--demo (or TODOITEMS_DEMO) keeps its items in memory and takes no --store (or TODOITEMS_STORE): leave one out, or use --read-only for a read-only instance on a store",
    );
  }
  if (settings.port === undefined && settings.httpsPort === undefined) {
    problems.push("--port off needs --https-port: there is nothing left to listen on");
  }
  problems.push(...samePorts(settings));
  if ((settings.tlsCert === undefined) !== (settings.tlsKey === undefined)) {
    problems.push("--tls-cert and --tls-key go together: give both, or neither for a development certificate");
  }
  if (settings.tlsCert !== undefined && settings.httpsPort === undefined) {
    problems.push("--tls-cert needs --https-port, such as --https-port 5001");
  }
  if (settings.auth !== "off" && settings.users === undefined) {
    problems.push(
      `--auth needs --users FILE (or TODOITEMS_USERS): make the file with: ${asTyped("user add NAME --users FILE")}`,
    );
  }
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
  const shapes = Object.values(definitions).map(({ flag, placeholder }) => ({ name: flag, placeholder }));
  const { values, positionals, problems } = parseFlags(shapes, args);
  const advice = "A setting is a flag, as in --port 8080; after npm start, as in npm start -- --port 8080";
  const unexpected = positionals.map((word) => `${word}: unexpected. ${advice}`);
  return {
    flags: new Map([...values].map(([flag, texts]) => [flag, texts.at(-1) ?? ""])),
    problems: [...problems, ...unexpected],
  };
}

const prefix = "TODOITEMS_";

/** Names the variables that look like settings, but that neither `serve` nor another command reads. */
function unknownVariables(environment: Environment, otherVariables: readonly string[]): string[] {
  const known = new Set([...Object.values(definitions).map(({ flag }) => variableOf(flag)), ...otherVariables]);
  const unknown = Object.keys(environment).filter((name) => name.startsWith(prefix) && !known.has(name));
  return unknown.map((name) => {
    // Compare the names without their common prefix, because it would make all names look alike.
    const [typed, names] = [name.slice(prefix.length), [...known].map((one) => one.slice(prefix.length))];
    const longer = names.filter((one) => typed !== "" && one.startsWith(typed));
    const meant = longer.length > 0 ? longer : [closest(typed, names)].filter((one) => one !== undefined);
    const guess = `Did you mean ${meant.map((one) => prefix + one).join(" or ")}?`;
    return `${name} is not a setting and is ignored. ${meant.length === 0 ? `${asTyped("help serve")} lists the settings` : guess}`;
  });
}

function samePorts({ port, httpsPort, metricsPort }: Settings): string[] {
  const ports = Object.entries({ "--port": port, "--https-port": httpsPort, "--metrics-port": metricsPort });
  return ports.flatMap(([flag, port], index) =>
    ports
      .slice(index + 1)
      .filter(([, other]) => port !== undefined && port !== 0 && port === other)
      .map(([otherFlag]) => `${flag} and ${otherFlag} are both ${port}: give each a port of its own`),
  );
}

/**
 * Warns about flags that npm took. `npm start --demo` gives the flag to npm, which puts it into an environment
 * variable.
 */
function takenByNpm(environment: Environment): string[] {
  const taken = Object.values(definitions).filter(
    ({ flag }) => environment[`npm_config_${flag.replaceAll("-", "_")}`] !== undefined,
  );
  return taken.map(
    ({ flag, placeholder }) =>
      `npm took --${flag} for itself, so it had no effect. Put -- before it, as in: npm start -- ${`--${flag} ${placeholder}`.trimEnd()}`,
  );
}

/** Warns about settings that have no effect without another setting. */
function idleSettings({ auth, users }: Settings): string[] {
  return auth === "off" && users !== undefined
    ? ["--users without --auth protects nothing: add --auth writes or --auth all"]
    : [];
}

/** Hides the password in a URL, because this text is printed where others may read it. */
function withoutPassword(text: string): string {
  const start = text.indexOf("://") + 3;
  const end = text.lastIndexOf("@");
  const colon = text.indexOf(":", start);
  const hasPassword = start > 2 && colon !== -1 && colon < end && !/[@/]/.test(text.slice(start, colon));
  return hasPassword ? `${text.slice(0, colon)}:…${text.slice(end)}` : text;
}

interface SettingDescription {
  readonly flag: string;
  readonly variable: string;
  readonly default: string;
  readonly meaning: string;
  /** All valid values, if there are only a few. */
  readonly choices: readonly string[] | undefined;
}

/** Describes all settings, for the help text, the manual page and the test of docs/reference.md. */
export function describeSettings(): SettingDescription[] {
  return Object.values<Definition>(definitions).map(({ flag, placeholder, default: standard, meaning, parse }) => ({
    flag: placeholder === "" ? `--${flag}` : `--${flag} ${placeholder}`,
    variable: variableOf(flag),
    default: standard,
    meaning,
    choices: parse.choices,
  }));
}
