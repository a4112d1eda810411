// Logs TLS handshakes that fail, usually once for each client address and cause, and says what to do. Most handshakes
// that fail do so because the client does not trust the development certificate.

import type { Log } from "../http/log.ts";
import { asTyped } from "../terminal/program-name.ts";
import type { Settings } from "./settings-table.ts";

/**
 * When this many logged failures are remembered, all of them are forgotten. So a scan from many addresses cannot fill
 * the memory.
 */
const rememberedMax = 1_000;

export function handshakeLog({ tlsCert }: Settings, log: Log): (peer: string, error: Error) => void {
  const logged = new Set<string>();
  const distrust =
    tlsCert === undefined
      ? `If its requests fail, it probably does not trust the development certificate: ${asTyped("certificate")} shows how to trust it`
      : `If its requests fail, it probably does not trust the certificate ${tlsCert}: let it trust the authority that issued this certificate, and check that the file holds the whole chain`;
  return (peer, error) => {
    const advice = otherCauses.find(({ sign }) => error.message.includes(sign))?.advice ?? distrust;
    const entry = `${peer} ${advice}`;
    if (logged.has(entry)) return;
    if (logged.size >= rememberedMax) logged.clear();
    logged.add(entry);
    const fields = { address: peer, reason: error.message };
    log("warn", `A client at ${peer} did not complete the TLS handshake. ${advice}`, fields);
  };
}

/**
 * Causes that the TLS library reports, and one of our own. The library's errors have no codes, only these words at the
 * end of the message.
 */
const otherCauses = [
  { sign: "TLS_ON_HTTP_PORT", advice: "It sent TLS to the HTTP port: use http:// in its address, or the HTTPS port" },
  { sign: "HTTP_REQUEST", advice: "It sent plain HTTP: use https:// in its address, or the HTTP port" },
  { sign: "UNSUPPORTED_PROTOCOL", advice: "It offers no TLS version that is safe: it needs TLS 1.2 or 1.3" },
  {
    sign: "NO_APPLICATION_PROTOCOL",
    advice: "It does not offer HTTP/1.1: let it use HTTP/1.1, or put a proxy that adds HTTP/2 in front of this service",
  },
  { sign: "NO_SHARED_CIPHER", advice: "It offers no cipher that is safe: it needs AES-GCM or ChaCha20-Poly1305" },
];
