// Logs TLS handshakes that fail, once for each client address. Most of them fail because the client does not trust the
// development certificate.

import type { Log } from "../http/log.ts";
import { asTyped } from "../terminal/program-name.ts";
import type { Settings } from "./settings-table.ts";

/** The TLS library's reasons if the first bytes are not those of TLS, but of HTTP, or unknown. */
const clearTextReasons = ["HTTP_REQUEST", "HTTPS_PROXY_REQUEST", "WRONG_VERSION_NUMBER"];

/** When this many addresses are remembered, all are forgotten. So a scan from many of them cannot fill the memory. */
const rememberedMax = 1_000;

export function handshakeLog({ tlsCert }: Settings, log: Log): (peer: string, error: Error) => void {
  const logged = new Set<string>();
  const advice =
    tlsCert === undefined
      ? `the development certificate: ${asTyped("certificate")} shows what to trust`
      : `the certificate ${tlsCert}: let it trust the authority, and check that the file holds the whole chain`;
  return (address, { message }) => {
    if (logged.has(address)) return;
    if (logged.size >= rememberedMax) logged.clear();
    logged.add(address);
    // The TLS library puts its reason, such as HTTP_REQUEST, after the last colon.
    const given = message.slice(message.lastIndexOf(":") + 1);
    // OpenSSL refuses a certificate of TLS 1.3 with an alert that is not encrypted. To our TLS library, which expects an
    // encrypted one, it is only too short.
    const reason = given === "BAD_PACKET_LENGTH" ? "CERTIFICATE_REFUSED" : given;
    const failure = clearTextReasons.includes(reason)
      ? `did not speak TLS (${reason}). It probably sent plain HTTP: its address must begin with https://`
      : `did not complete the TLS handshake (${reason}). It may not trust ${advice}`;
    const text = `A client at ${address} ${failure}`;
    log("warn", text, { address, reason });
  };
}
