// The items and certificates for the contenders, in a temporary folder that is deleted at the end.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// The benchmarks need a real disk, so the system's temporary folder must not be on a RAM disk.
export const folder = mkdtempSync(join(tmpdir(), "todoitems-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

interface Fixture {
  /** The path of a file with a JSON array of the items, each about 140 bytes long. */
  readonly file: string;
  /** The path of a file with the IDs of the items, one on each line. */
  readonly idsFile: string;
}

export function fixture(count: number): Fixture {
  const file = join(folder, `items-${count}.json`);
  const idsFile = join(folder, `ids-${count}.txt`);
  if (!existsSync(file)) {
    const ids = Array.from({ length: count }, () => crypto.randomUUID());
    writeFileSync(file, `[${ids.map(item).join(",")}]`);
    writeFileSync(idsFile, ids.map((id) => `${id}\n`).join(""));
  }
  return { file, idsFile };
}

function item(id: string, index: number): string {
  const number = String(index).padStart(7, "0");
  return `{"ID":"${id}","Name":"Buy ${number} bottles","Notes":"and bring the empty ones back, the twelve","Done":${index % 2 ? "true" : "null"}}`;
}

/** A self-signed certificate. openssl makes it, so that no local certificate authority is needed. */
export function certificate(): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  if (!existsSync(cert)) {
    const command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost";
    Bun.spawnSync([...command.split(" "), "-out", cert, "-keyout", key]);
  }
  return { cert, key };
}

export function certificateFlags(): readonly string[] {
  const { cert, key } = certificate();
  return ["--tls-cert", cert, "--tls-key", key];
}
