// The certificate for HTTPS: can it be used, and for how long?

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { readCertificate } from "../../serve/certificate-files.ts";
import { type Finding, fail, pass, type Subject, warn } from "./finding.ts";

const dayMs = 86_400_000;
/** Tools such as certbot renew a certificate 30 days before it expires. With fewer days left, that has failed. */
const renewalDays = 21;

export function checkCertificate({ settings: { httpsPort, tlsCert, tlsKey } }: Subject): Finding[] {
  if (httpsPort === undefined) return [pass("none is needed: HTTPS is off")];
  if (tlsCert === undefined || tlsKey === undefined)
    return [
      warn(
        "HTTPS uses a development certificate, which other machines do not trust",
        "for real clients, give a certificate with --tls-cert and --tls-key",
      ),
    ];
  readCertificate({ cert: tlsCert, key: tlsKey });
  const { validFrom, validTo } = new X509Certificate(readFileSync(tlsCert));
  const days = Math.floor((Date.parse(validTo) - Date.now()) / dayMs);
  if (Date.parse(validFrom) > Date.now())
    return [fail(`${tlsCert} is valid from ${validFrom} on`, "check the clock, or wait")];
  const text = `${tlsCert} is valid for ${days} more days`;
  return [days < renewalDays ? warn(text, "renew it; the service reads the new files by itself") : pass(text)];
}
