// A real browser for tests: headless Chromium. It is either installed already or gets installed from Debian's packages.

import { existsSync } from "node:fs";
import { installForAll, unpackForUser } from "./chromium-install.ts";

/**
 * Opens an empty page. One browser serves the whole test process and ends with it. Close the page after use.
 * The browser does not check certificates, so a test can use a development certificate.
 */
export async function openPage(): Promise<Bun.WebView> {
  const page = new Bun.WebView({
    width: 1024,
    height: 768,
    backend: { type: "chrome", path: chromiumPath(), argv: browserFlags },
  });
  await page.navigate("about:blank");
  return page;
}

const browserFlags = [
  // The sandbox needs privileges that containers do not have. Our own pages do not need a sandbox.
  "--no-sandbox",
  // In containers, /dev/shm has only a few megabytes.
  "--disable-dev-shm-usage",
  "--ignore-certificate-errors",
  // A page at a name has other rights than one on loopback: over plain HTTP fewer, over HTTPS its own.
  "--host-resolver-rules=MAP *.test 127.0.0.1",
];

const names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "msedge"];

let found: string | undefined;

/** The path of a Chromium. Installs one if there is none, which may take minutes. Throws if that fails. */
export function chromiumPath(): string {
  found ??= findChromium() ?? installChromium();
  return found;
}

function findChromium(): string | undefined {
  const given = process.env["CHROMIUM"];
  if (given !== undefined && existsSync(given)) return given;
  const paths = names.map((name) => Bun.which(name)).filter((path) => path !== null);
  return [...paths, "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"].find((path) => existsSync(path));
}

function installChromium(): string {
  if (Bun.which("apt-get") !== null) {
    const isRoot = process.getuid?.() === 0;
    if (isRoot) installForAll();
    const installed = isRoot ? findChromium() : unpackForUser();
    if (installed !== undefined) return installed;
  }
  throw new Error(
    "These tests need Chromium, and it could not be installed. Install it (Debian: sudo apt-get install chromium; elsewhere any Chrome or Edge), or set CHROMIUM to its path.",
  );
}
