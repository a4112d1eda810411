// `todoitems certificate`: shows the development certificate authority, and how to make each client platform trust it.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { CertificateError, openDevelopmentCertificate } from "../serve/certificate-files.ts";
import type { Environment } from "../serve/environment.ts";
import type { Command } from "./command.ts";

export const certificate: Command = {
  name: "certificate",
  parameters: "",
  summary: "show the development certificate",
  flags: [],
  run: showCertificate,
};

async function showCertificate(args: readonly string[], environment: Environment): Promise<number> {
  if (args.length > 0) {
    console.error("todoitems certificate takes no arguments.");
    return 2;
  }
  try {
    const { authorityCert, names } = await openDevelopmentCertificate(environment);
    const { validTo, fingerprint256 } = new X509Certificate(readFileSync(authorityCert));
    console.log(instructions(authorityCert, validTo, fingerprint256, names));
    return 0;
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    console.error(error.message);
    return 1;
  }
}

function instructions(path: string, validTo: string, fingerprint: string, names: readonly string[]): string {
  return `The development authority of this machine:

  File         ${path}
  Valid until  ${validTo}
  SHA-256      ${fingerprint}
  Vouches for  ${names.join(", ")}

It never leaves this machine by itself. Whoever trusts it trusts the key beside it, so do that on
development machines and devices only.

Windows (an administrator's PowerShell)
  Import-Certificate -FilePath "${path}" -CertStoreLocation Cert:\\LocalMachine\\Root

macOS
  sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain "${path}"

Linux (Debian, Ubuntu; browsers keep lists of their own: import the file in their settings)
  sudo cp "${path}" /usr/local/share/ca-certificates/todoitems.crt && sudo update-ca-certificates

Android emulator or device
  1. Copy the file to the app as res/raw/todoitems.pem
  2. res/xml/network_security_config.xml:
       <network-security-config>
         <debug-overrides>
           <trust-anchors>
             <certificates src="@raw/todoitems" />
           </trust-anchors>
         </debug-overrides>
       </network-security-config>
  3. AndroidManifest.xml: <application android:networkSecurityConfig="@xml/network_security_config" ...>
  The address from the emulator is https://10.0.2.2:5001/

iOS simulator (while it runs)
  xcrun simctl keychain booted add-root-cert "${path}"

.NET (HttpClient uses the trust of the system above; in an Android app, that of the app)
  On Linux, without changing the system: SSL_CERT_FILE="${path}" dotnet run

curl and Node
  curl --cacert "${path}" https://localhost:5001/api/todoitems/
  NODE_EXTRA_CA_CERTS="${path}" node app.js`;
}
