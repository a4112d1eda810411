// `todoitems healthcheck`: asks the service on this machine whether it is ready. Container engines and monitors run it.

import { requireSettings } from "../serve/serve.ts";
import type { Settings } from "../serve/settings-table.ts";
import { type Command, UsageError } from "./command.ts";
import { connectionVariables } from "./connection-flags.ts";
import { CommandError } from "./failure.ts";
import { printLine } from "./output.ts";
import { askHealth, ownUrl } from "./own-service.ts";
import { settingFlags } from "./setting-flags.ts";

/**
 * The settings that decide where the service listens. The help lists only these, but all other settings are accepted,
 * too.
 */
const addressFlags = ["host", "port", "https-port"];

export const healthcheck: Command = {
  name: "healthcheck",
  parameters: "",
  summary: "ask the service on this machine whether it is ready",
  flags: settingFlags.filter(({ name }) => addressFlags.includes(name)),
  notes:
    "It takes the settings of serve from flags and environment variables, asks /health/ready at that address, and exits with 0 if the service is ready and with 1 if it is not.",
  async run(args, environment) {
    const { settings } = requireSettings(args, environment, connectionVariables);
    const url = addressOf(settings);
    const { state, detail } = await askHealth(url, { trusts: true });
    if (state !== "ready") throw new CommandError(`${url}: ${detail}.`);
    await printLine("ready");
    return 0;
  },
};

function addressOf(settings: Settings): URL {
  const { port, httpsPort } = settings;
  const [scheme, number] = port === undefined ? (["https", httpsPort] as const) : (["http", port] as const);
  if (!number) throw new UsageError("A port that the system picks is not known here. Give the real one with --port.");
  return ownUrl(scheme, settings, number);
}
