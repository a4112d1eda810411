// `todoitems certificate`: shows the development certificate authority and how to make each client platform trust it.
// With --trust, it makes this machine trust the authority, where that is possible.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { asTyped } from "../program-name.ts";
import { authorityWasReplaced, CertificateError, openDevelopmentCertificate } from "../serve/certificate-files.ts";
import type { Environment } from "../serve/environment.ts";
import { labelledRows, widthOf, wrap } from "../serve/wrapped-text.ts";
import type { DevelopmentCertificate } from "../tls/development-certificate.ts";
import { systemCommands, systemFile, type TrustOutcome, trustInChromium, trustInSystem } from "../tls/trust.ts";
import { defineCommand, positionalsOf } from "./command.ts";
import { CommandError } from "./failure.ts";
import { printLine, remark } from "./output.ts";

export const certificate = defineCommand(
  {
    name: "certificate",
    parameters: "",
    summary: "show the development certificate, and how to trust it",
    flags: [
      {
        name: "trust",
        placeholder: "",
        meaning: "trust it on this machine (Debian, Ubuntu, Chromium); elsewhere, show the steps",
      },
    ],
    notes: `To undo --trust on Debian and Ubuntu, run these commands. In Chromium and Chrome, remove the authority in the settings, under certificates.\n  sudo rm ${systemFile}\n  sudo update-ca-certificates --fresh`,
  },
  async (args, environment) => {
    positionalsOf(args, 0, 0, "argument");
    const opened = await open(environment);
    if (opened.replacedAuthority) remark(`${authorityWasReplaced()}.\n`);
    if (args.has("trust")) return trust(opened, environment);
    await printLine(`${description(opened)}\n\n${steps(opened.authorityCert, allPlatforms)}`);
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

async function trust({ authorityCert }: DevelopmentCertificate, environment: Environment): Promise<number> {
  const outcomes = [
    ["This system", await trustInSystem(authorityCert)],
    ["Chromium and Chrome", await trustInChromium(authorityCert, environment["HOME"] ?? homedir())],
  ] as const;
  const lines = outcomes.flatMap(([store, outcome]) => describeOutcome(store, outcome));
  const isDone = outcomes.every(([, outcome]) => outcome === true);
  const platforms = isDone ? allPlatforms.filter((platform) => !platform.title.startsWith("Linux")) : allPlatforms;
  const rest = isDone ? "Other devices and systems need these steps:" : "By hand, these are the steps:";
  const text = wrap([...lines, "", rest].join("\n").trimStart(), widthOf(process.stdout));
  await printLine(`${text}\n\n${steps(authorityCert, platforms)}`);
  return outcomes.some(([, outcome]) => outcome !== undefined && outcome !== true) ? 1 : 0;
}

function describeOutcome(store: string, outcome: TrustOutcome | undefined): string[] {
  if (outcome === undefined) return [];
  return [
    outcome === true
      ? `${store}: the development authority is trusted. Start programs that run now again.`
      : `${store}: not trusted, because ${outcome.reason}.`,
  ];
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
    wrap(explanation(), Math.min(columns, textColumns)),
  ].join("\n");
}

/** Longer lines of text are hard to read. */
const textColumns = 100;

const explanation =
  () => `The debug builds of the tutorial's apps accept its certificates without any of these steps, because of its name. Other clients have to trust it. ${asTyped("certificate --trust")} does that on Debian and Ubuntu, and in Chromium and Chrome on Linux.

The authority never leaves this machine by itself, and clients accept it for local names only. Whoever trusts it trusts the key beside it, so do that on development machines and devices only.`;

interface Platform {
  readonly title: string;
  readonly steps: (path: string) => string;
}

// The steps are not wrapped, so that they can be copied.
function steps(path: string, platforms: readonly Platform[]): string {
  return platforms.map(({ title, steps }) => `${title}\n${steps(path)}`).join("\n\n");
}

const allPlatforms: readonly Platform[] = [
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
    steps: (path) =>
      systemCommands(`"${path}"`)
        .map((command) => `  sudo ${command.join(" ")}`)
        .join("\n"),
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
