// Makes this machine trust the development authority. It changes two lists of trusted authorities: the system's list on
// Debian and its relatives, and the list that Chromium and Chrome keep on Linux.

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** True if the authority is trusted now. Otherwise the reason why it is not. */
export type TrustOutcome = true | { readonly reason: string };

export const systemFile = "/usr/local/share/ca-certificates/todoitems.crt";
const updateTool = "/usr/sbin/update-ca-certificates";
/** The name of the authority in the browsers' list. */
const nickname = "todoitems development authority";
/**
 * `certutil` is stopped after this time. If the browsers' list of authorities has a password, `certutil` asks for it
 * again and again, even if nobody can answer.
 */
const certutilMsMax = 10_000;

/** The commands that make Debian trust the authority. They must be run as root. */
export function systemCommands(authorityCert: string): readonly (readonly string[])[] {
  return [["install", "-m", "644", authorityCert, systemFile], [updateTool]];
}

/**
 * Adds the authority to the authorities that the system trusts. Asks for a password through `sudo` if necessary.
 * Undefined if this system is not Debian or one of its relatives.
 */
export async function trustInSystem(authorityCert: string): Promise<TrustOutcome | undefined> {
  if (process.platform !== "linux" || !existsSync(updateTool)) return undefined;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && Bun.which("sudo") === null)
    return { reason: "this needs root, and there is no sudo: run the commands for Linux as root" };
  for (const command of systemCommands(authorityCert)) {
    // The tool's own report goes to standard error, because standard output has ours.
    const tool = Bun.spawn(isRoot ? [...command] : ["sudo", ...command], { stdio: ["inherit", 2, 2] });
    if ((await tool.exited) !== 0) return { reason: `${command.join(" ")} failed` };
  }
  return true;
}

/**
 * Adds the authority to the authorities that Chromium and Chrome trust. Undefined if these browsers use the system's
 * list.
 */
export async function trustInChromium(authorityCert: string, home: string): Promise<TrustOutcome | undefined> {
  if (process.platform !== "linux") return undefined;
  const certutil = Bun.which("certutil");
  if (certutil === null)
    return { reason: "certutil is missing: install the package libnss3-tools and run this command again" };
  const folder = join(home, ".pki", "nssdb");
  const run = async (...args: string[]) => {
    const command = [certutil, "-d", `sql:${folder}`, ...args];
    const tool = Bun.spawn(command, { stdio: ["ignore", "ignore", "ignore"], timeout: certutilMsMax });
    return (await tool.exited) === 0;
  };
  if (!existsSync(join(folder, "cert9.db"))) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    await run("-N", "--empty-password");
  }
  // Remove all older authorities, because the browsers would keep trusting them.
  while (await run("-D", "-n", nickname));
  const isAdded = await run("-A", "-t", "C,,", "-n", nickname, "-i", authorityCert);
  return isAdded || { reason: `certutil cannot change ${folder}: import the file in the browser's settings` };
}
