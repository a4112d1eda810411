// The ports: are they free, or does the service itself already listen there?

import { checkPortIsFree, ListenError } from "../../serve/listen-advice.ts";
import { addressesOf } from "../../serve/loopback.ts";
import { askHealth, ownUrl } from "../own-service.ts";
import { type Finding, fail, pass, type Subject, warn } from "./finding.ts";

export async function checkPorts({ settings }: Subject): Promise<Finding[]> {
  const { port, httpsPort } = settings;
  return [
    ...(port === undefined ? [] : [await checkPort("http", port)]),
    ...(httpsPort === undefined ? [] : [await checkPort("https", httpsPort)]),
  ];

  async function checkPort(scheme: "http" | "https", number: number): Promise<Finding> {
    if (number === 0) return pass(`${scheme.toUpperCase()}: the system picks a free one`);
    const { state, detail } = await askHealth(ownUrl(scheme, settings, number), { trusts: true });
    if (state === "ready") return pass(`${number}: ${detail}`);
    if (state === "not ready")
      return warn(
        `${number}: ${detail}`,
        "look at the service's log, which says why, and at the findings about the store",
      );
    try {
      checkPortIsFree(addressesOf(settings.host), number, scheme === "http" ? "--port" : "--https-port");
      return pass(`${number} is free`);
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
      return fail(`${number}: ${detail}`, error.message);
    }
  }
}
