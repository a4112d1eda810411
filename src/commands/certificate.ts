// `todoitems certificate`: shows the development certificate authority and how to make each client platform trust it.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { authorityWasReplaced, CertificateError, openDevelopmentCertificate } from "../serve/certificate-files.ts";
import type { Environment } from "../terminal/environment.ts";
import { labelledRows, widthOf, wrap } from "../terminal/wrapped-text.ts";
import type { DevelopmentCertificate } from "../tls/development-certificate.ts";
import { defineCommand, positionalsOf } from "./command.ts";
import { CommandError } from "./failure.ts";
import { printLine, remark } from "./output.ts";

export const certificate = defineCommand(
  {
    name: "certificate",
    parameters: "",
    summary: "show the development certificate, and how to trust it",
    flags: [],
  },
  async (args, environment) => {
    positionalsOf(args, 0, 0, "argument");
    const opened = await open(environment);
    if (opened.replacedAuthority) remark(`${authorityWasReplaced()}.\n`);
    await printLine(`${description(opened)}\n\n${steps(opened.authorityCert)}`);
    return 0;
  },
);

async function open(environment: Environment): Promise<DevelopmentCertificate> {
  try {
    return await openDevelopmentCertificate(environment);
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    throw new CommandError(error.message, { cause: error });
  }
}

function description({ authorityCert, names, otherNames }: DevelopmentCertificate): string {
  const { subject, validTo, fingerprint256 } = new X509Certificate(readFileSync(authorityCert));
  const without =
    otherNames.length === 0
      ? []
      : [
          [
            "Not for",
            `${otherNames.join(", ")} (names that this machine got later; to include them, delete authority-key.pem beside the file and trust the new authority)`,
          ] as const,
        ];
  const columns = widthOf(process.stdout);
  return [
    "The development authority of this machine:",
    "",
    ...labelledRows(
      [
        ["File", authorityCert],
        ["Name", subject],
        ["Valid until", validTo],
        ["SHA-256", fingerprint256],
        ["Vouches for", names.join(", ")],
        ...without,
      ],
      columns,
    ),
    "",
    wrap(explanation, Math.min(columns, textColumns)),
  ].join("\n");
}

/** Longer lines of text are hard to read. */
const textColumns = 100;

const explanation = `The debug builds of the tutorial's apps accept its certificates without any of these steps, because of its name. Other clients have to trust it.

The authority never leaves this machine by itself, and clients accept it for local names only. Whoever trusts it trusts the key beside it, so do that on development machines and devices only.`;

interface Platform {
  readonly title: string;
  readonly steps: (path: string) => string;
}

// The steps are not wrapped, so that they can be copied.
function steps(path: string): string {
  return platforms.map(({ title, steps }) => `${title}\n${steps(path)}`).join("\n\n");
}

const platforms: readonly Platform[] = [
  {
    title: "Windows (an administrator's PowerShell)",
    steps: (path) => `  Import-Certificate -FilePath "${path}" -CertStoreLocation Cert:\\LocalMachine\\Root`,
  },
  {
    title: "macOS",
    steps: (path) => `  sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain "${path}"`,
  },
  {
    title: "Linux (Debian, Ubuntu)",
    steps: (path) => `  sudo install -m 644 "${path}" /usr/local/share/ca-certificates/todoitems.crt
  sudo update-ca-certificates`,
  },
  {
    title: "Linux, browsers (they keep lists of their own)",
    steps: () => "  Import the file as an authority in the browser's settings, under certificates.",
  },
  {
    title: "Android emulator or device",
    steps: () => `  1. Copy the file to the app as res/raw/todoitems.pem
  2. res/xml/network_security_config.xml:
       <network-security-config>
         <debug-overrides>
           <trust-anchors>
             <certificates src="@raw/todoitems" />
           </trust-anchors>
         </debug-overrides>
       </network-security-config>
  3. AndroidManifest.xml: <application android:networkSecurityConfig="@xml/network_security_config" ...>
  The address from the emulator is https://10.0.2.2:5001/`,
  },
  {
    title: "iOS simulator (while it runs)",
    steps: (path) => `  xcrun simctl keychain booted add-root-cert "${path}"`,
  },
  {
    title: ".NET (HttpClient uses the trust of the system above; in an Android app, that of the app)",
    steps: (path) => `  On Linux, without changing the system: SSL_CERT_FILE="${path}" dotnet run`,
  },
  {
    title: "curl and Node",
    steps: (path) => `  curl --cacert "${path}" https://localhost:5001/api/todoitems/
  NODE_EXTRA_CA_CERTS="${path}" node app.js`,
  },
];
