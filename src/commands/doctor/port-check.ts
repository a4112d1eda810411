// The ports: are they free, or does the service itself already listen there?

import { checkPortIsFree, ListenError } from "../../serve/listen-advice.ts";
import { addressesOf } from "../../serve/loopback.ts";
import type { Settings } from "../../serve/settings-table.ts";
import { askEpoch, askHealth, ownUrl } from "../own-service.ts";
import { epochOf } from "../stores/store-epoch.ts";
import { describeStore } from "../stores/store-setting.ts";
import { type Finding, fail, pass, type Subject, warn } from "./finding.ts";

type PortFlag = Parameters<typeof checkPortIsFree>[2];

export async function checkPorts({ settings }: Subject): Promise<Finding[]> {
  const { port, httpsPort, metricsPort } = settings;
  const checked: Checked[] = [];
  if (port !== undefined) checked.push(await checkPort("http", port, settings));
  if (httpsPort !== undefined) checked.push(await checkPort("https", httpsPort, settings));
  const findings = checked.map(({ finding }) => finding);
  // If the service is running, it uses the metrics port itself, so that port is not checked.
  if (metricsPort === undefined || checked.some(({ isService }) => isService)) return findings;
  return [...findings, checkFree("--metrics-port", metricsPort, settings)];
}

interface Checked {
  readonly finding: Finding;
  /** True if a todoitems service answers on this port. */
  readonly isService: boolean;
}

async function checkPort(scheme: "http" | "https", port: number, settings: Settings): Promise<Checked> {
  const url = ownUrl(scheme, settings, port);
  const { state, detail } = await askHealth(url, { trusts: true });
  if (state === "ready")
    return { finding: (await otherStore(url, settings)) ?? pass(`${port}: ${detail}`), isService: true };
  const hint = "look at the service's log, and at the findings about the store";
  if (state === "not ready") return { finding: warn(`${port}: ${detail}`, hint), isService: true };
  return { finding: checkFree(scheme === "http" ? "--port" : "--https-port", port, settings), isService: false };
}

/**
 * Returns a warning if the service on this port uses a different store than these settings name. Then it is not the
 * service that these settings describe.
 */
async function otherStore(url: URL, { store, demo }: Settings): Promise<Finding | undefined> {
  if (store.engine === "memory" || demo) return undefined;
  const [served, examined] = [await askEpoch(url, { trusts: true }), await epochOf(store)];
  if (served === undefined || examined === undefined || served === examined) return undefined;
  return warn(
    `${url.port}: the service there does not use the store of these settings, ${describeStore(store)}`,
    `to examine that service, give all its flags, above all --store. To examine another service, give its --port`,
  );
}

function checkFree(flag: PortFlag, port: number, { host }: Settings): Finding {
  if (port === 0) return pass(`${flag} 0: the system picks a free one`);
  try {
    checkPortIsFree(addressesOf(host), port, flag);
    return pass(`${port} is free`);
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    return fail(`${port}: it cannot be used`, error.message);
  }
}
