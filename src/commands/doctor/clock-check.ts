// Checks the clock of this machine, because certificates are valid only for a time, and because operators compare times
// in logs.

import { existsSync, statSync } from "node:fs";
import { type Finding, fail, pass, type Subject, warn } from "./finding.ts";

/** This program was written after this moment, so an earlier clock is wrong. */
const earliest = Date.UTC(2026, 10, 1);
/** Clocks that differ by less than this do no harm. */
const toleratedMs = 5_000;

const clockHint = "let the system set its clock from the network (systemd-timesyncd, chrony)";

export function checkClock({ settings: { store } }: Subject): Finding[] {
  const now = Date.now();
  const shown = `it is ${new Date(now).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  if (now < earliest) return [fail(`${shown}, which is long ago`, clockHint)];
  if (store.engine === "sqlite" && existsSync(store.path) && statSync(store.path).mtimeMs > now + toleratedMs)
    return [warn(`${shown}, but the store was written later than that`, clockHint)];
  return isSynchronized() === false
    ? [warn(`${shown}, but the system does not set its clock from the network`, clockHint)]
    : [pass(shown)];
}

/** True if the system sets its clock from the network. Undefined if the system does not say. */
function isSynchronized(): boolean | undefined {
  const program = Bun.which("timedatectl");
  if (program === null) return undefined;
  const { stdout } = Bun.spawnSync([program, "show", "--property=NTPSynchronized", "--value"], {
    stderr: "ignore",
    timeout: 2_000,
  });
  const answer = stdout.toString().trim();
  return answer === "" ? undefined : answer === "yes";
}
