// What the contenders are filled with, and where they keep it: a folder that is gone afterwards.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// On disk, not in memory, as far as the system's temporary folder is.
export const folder = mkdtempSync(join(tmpdir(), "todoitems-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

export interface Fixture {
  /** A JSON array of so many items, 140 bytes each. */
  readonly file: string;
  /** Their IDs, one on each line. */
  readonly idsFile: string;
  items(): unknown[];
}

export function fixture(count: number): Fixture {
  const file = join(folder, `items-${count}.json`);
  const idsFile = join(folder, `ids-${count}.txt`);
  if (!existsSync(file)) {
    const ids = Array.from({ length: count }, () => crypto.randomUUID());
    writeFileSync(file, `[${ids.map(item).join(",")}]`);
    writeFileSync(idsFile, ids.map((id) => `${id}\n`).join(""));
  }
  return { file, idsFile, items: () => JSON.parse(readFileSync(file, "utf8")) };
}

function item(id: string, index: number): string {
  const number = String(index).padStart(7, "0");
  return `{"ID":"${id}","Name":"Buy ${number} bottles","Notes":"and bring the empty ones back, the twelve","Done":${index % 2 ? "true" : "null"}}`;
}

/** A user and what they send, in a file and a header as the product takes them. */
export async function user(): Promise<{ readonly usersFile: string; readonly header: string }> {
  const usersFile = join(folder, "users");
  writeFileSync(usersFile, `bench:${await Bun.password.hash("bench", "bcrypt")}\n`, { mode: 0o600 });
  return { usersFile, header: `Authorization: Basic ${btoa("bench:bench")}` };
}

/** A certificate by openssl, so that no authority is made for a benchmark. */
export function onlyCertificate(): string[] {
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  if (!existsSync(cert)) {
    const command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost";
    Bun.spawnSync([...command.split(" "), "-out", cert, "-keyout", key]);
  }
  return ["--tls-cert", cert, "--tls-key", key];
}
