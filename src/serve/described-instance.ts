// Collects from the settings what the API's description says about this instance.

import { version } from "../../package.json";
import type { DescribedInstance } from "../description/described-instance.ts";
import { headerBytesMax } from "../wire/listen.ts";
import { checksHosts } from "./loopback.ts";
import type { Settings } from "./settings-table.ts";

export function describedInstance(settings: Settings): DescribedInstance {
  const { readOnly, demo, storeBytesMax } = settings;
  return {
    ...settings,
    version,
    headerBytesMax,
    readOnly: readOnly || demo,
    hasAuthority: hasAuthority(settings),
    checksHosts: checksHosts(settings),
    storeBytesMax: Number.isFinite(storeBytesMax) ? storeBytesMax : undefined,
  };
}

/** True if clients that use HTTPS must trust our development authority. */
export function hasAuthority({ httpsPort, tlsCert }: Settings): boolean {
  return httpsPort !== undefined && tlsCert === undefined;
}
