// The folder where todoitems keeps its files for the current user. It differs between operating systems.

import { homedir } from "node:os";
import { join } from "node:path";

export function dataFolder(
  environment: Readonly<Record<string, string | undefined>>,
  platform = process.platform,
): string {
  if (platform === "win32")
    return join(environment["LOCALAPPDATA"] ?? join(homedir(), "AppData", "Local"), "todoitems");
  if (platform === "darwin") return join(homedir(), "Library", "Application Support", "todoitems");
  return join(environment["XDG_DATA_HOME"] || join(homedir(), ".local", "share"), "todoitems");
}
