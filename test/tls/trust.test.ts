import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { developmentCertificate } from "../../src/tls/development-certificate.ts";
import { trustInChromium } from "../../src/tls/trust.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";

const certutil = Bun.which("certutil");

test.skipIf(process.platform !== "linux" || certutil === null)(
  "Chromium's list on Linux holds the newest authority and no older one, as an authority for web sites",
  async () => {
    const folder = temporaryFolder();
    const ask = (...args: string[]) =>
      Bun.spawnSync([certutil ?? "", "-d", `sql:${join(folder.path, ".pki", "nssdb")}`, ...args]).stdout.toString();
    for (let count = 0; count < 2; count++) {
      rmSync(join(folder.path, "https"), { recursive: true, force: true });
      const { authorityCert } = await developmentCertificate(join(folder.path, "https"));
      expect(await trustInChromium(authorityCert, folder.path)).toBe(true);
      const listed =
        ask("-L", "-n", "todoitems development authority", "-a").match(/-----BEGIN[\s\S]*?END[^-]*-----/g) ?? [];
      const { fingerprint256 } = new X509Certificate(readFileSync(authorityCert));
      expect(listed.map((pem) => new X509Certificate(pem).fingerprint256)).toEqual([fingerprint256]);
      expect(ask("-L")).toMatch(/todoitems development authority +C,,/);
    }
    folder.dispose();
  },
  30_000,
);
