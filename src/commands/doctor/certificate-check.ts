// The certificate for HTTPS: can it be used, and for how long?

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { readCertificate } from "../../serve/certificate-files.ts";
import { type Finding, fail, pass, type Subject, warn } from "./finding.ts";

const dayMs = 86_400_000;
/**
 * If a certificate expires in fewer than `renewalDays` days, its renewal has probably failed: tools such as certbot
 * renew a certificate 30 days before it expires.
 */
const renewalDays = 21;

export function checkCertificate({ settings: { httpsPort, tlsCert, tlsKey } }: Subject): Finding[] {
  if (httpsPort === undefined) return [pass("none is needed: HTTPS is off")];
  if (tlsCert === undefined || tlsKey === undefined)
    return [
      warn(
        "HTTPS uses a development certificate, which other machines do not trust",
        "for real clients, give a certificate with --tls-cert and --tls-key; the service renews the development certificate by itself",
      ),
    ];
  readCertificate({ cert: tlsCert, key: tlsKey });
  const { validFrom, validTo, subjectAltName } = new X509Certificate(readFileSync(tlsCert));
  const days = Math.floor((Date.parse(validTo) - Date.now()) / dayMs);
  if (Date.parse(validFrom) > Date.now())
    return [fail(`${tlsCert} is valid from ${validFrom} on`, "check the clock, or wait")];
  const text = `${tlsCert} is valid for ${days} more days`;
  if (days < renewalDays) return [warn(text, "renew it; the service reads the new files by itself, without a restart")];
  return [pass(subjectAltName === undefined ? text : `${text}, for ${subjectAltName.replaceAll("DNS:", "")}`)];
}
