// `todoitems healthcheck`: asks a service, usually the one on this machine, whether it is ready. Container engines and
// monitors run this command.

import { readSettings } from "../serve/settings.ts";
import type { Settings } from "../serve/settings-table.ts";
import { variableOf } from "../terminal/environment.ts";
import { parseFlags } from "../terminal/flags.ts";
import { asTyped } from "../terminal/program-name.ts";
import { type Command, UsageError } from "./command.ts";
import { connectionVariables } from "./connection-flags.ts";
import { CommandError } from "./failure.ts";
import { printLine } from "./output.ts";
import { askHealth, ownUrl } from "./own-service.ts";
import { completeUrl, isOnThisMachine, serveCommandFor, takeAddress, withUsualPort } from "./server-address.ts";
import { settingFlags } from "./setting-flags.ts";
import { describeUnknownVariables } from "./unknown-variables.ts";

/**
 * The settings that decide where the service listens. The help lists only these, but all other settings are accepted
 * too.
 */
const addressFlags = ["host", "port", "https-port"];

const serverVariable = variableOf("server");

const advice = "give the address alone, as in healthcheck VALUE";
const acceptedFlags = settingFlags.map((flag) => ({ ...flag, triedInstead: { server: advice, s: advice } }));

export const healthcheck: Command = {
  name: "healthcheck",
  parameters: "[URL]",
  summary: "ask the service on this machine whether it is ready",
  flags: settingFlags.filter(({ name }) => addressFlags.includes(name)),
  notes:
    "Without URL, it finds the address from the settings of serve, in flags and environment variables. TODOITEMS_SERVER is not one of them. Exit codes: 0 the service is ready, 1 it is not ready or does not answer, 2 usage error.",
  example: "healthcheck --port 8080",
  async run(args, environment) {
    const { values, problems, positionals } = parseFlags(acceptedFlags, args);
    if (problems.length > 0) throw new UsageError(problems.join("\n"));
    const { url: named, rest } = takeAddress(acceptedFlags, args);
    if (positionals.length > 1)
      throw new UsageError(`${positionals[1]}: unexpected argument. This command takes one URL.`);
    const result = readSettings(rest, environment, connectionVariables);
    if ("problems" in result) throw new UsageError(result.problems.join("\n"));
    const url = named ?? addressOf(result.settings);
    const { state, detail } = await askHealth(url, { trusts: named === undefined || isOnThisMachine(named) });
    if (state !== "ready") {
      // An address on the command line says clearly which service is meant.
      const isNamed = named !== undefined || addressFlags.some((flag) => values.has(flag));
      const server = isNamed ? undefined : environment[serverVariable];
      const reason = `${url}: ${detail}.${state === "silent" ? ` ${findAdvice(url, named)}` : ""}`;
      const remarks = [...unusedServer(server, url), ...describeUnknownVariables(environment)];
      throw new CommandError([reason, ...remarks].join("\n"));
    }
    await printLine("ready");
    return 0;
  },
};

/** `named` is the address that the user gave, if any. With --port 80, `url` has no port either, but none is missing. */
function findAdvice(url: URL, named: URL | undefined): string {
  const meant = named?.pathname === "/" ? withUsualPort(named) : undefined;
  if (meant) return `This is port 80. Did you mean ${meant}?`;
  const isHere = isOnThisMachine(url) && url.pathname === "/";
  return `Check that the service is running${isHere ? `; ${serveCommandFor(url)} starts it` : ""}. If it is elsewhere, give its --port, or its address, as in: ${asTyped("healthcheck http://127.0.0.1:8080/")}`;
}

/**
 * Other commands use TODOITEMS_SERVER, but this command does not. If the variable names a service other than `url`,
 * says how to ask that service.
 */
function unusedServer(server: string | undefined, url: URL): string[] {
  if (!server || completeUrl(server)?.origin === url.origin) return [];
  return [`${serverVariable} is not used here. To ask that service: ${asTyped(`healthcheck ${server}`)}`];
}

function addressOf(settings: Settings): URL {
  const { port, httpsPort } = settings;
  const [scheme, number] = port === undefined ? (["https", httpsPort] as const) : (["http", port] as const);
  if (!number) throw new UsageError("A port that the system picks is not known here. Give the real one with --port.");
  return ownUrl(scheme, settings, number);
}
