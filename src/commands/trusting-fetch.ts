// A `fetch` that trusts one more certificate authority, and says so if the server's certificate is from another one.

import { rootCertificates } from "node:tls";

/** Matches the error codes of a certificate that is not trusted. */
export const certificateCode = /CERT|ISSUER|SIGNED|SIGNATURE/;

/** What is wrong with a certificate that no authority can make valid, and what to do, by error code. */
export const certificateFaults: ReadonlyMap<string, { readonly fault: string; readonly advice: string }> = new Map([
  [
    "ERR_TLS_CERT_ALTNAME_INVALID",
    { fault: "is for another host name", advice: "Use a name that the certificate contains, with --server." },
  ],
  [
    "CERT_HAS_EXPIRED",
    { fault: "has expired", advice: "Renew it on that server, and check the clock of this machine." },
  ],
  ["CERT_NOT_YET_VALID", { fault: "is not valid yet", advice: "Check the clocks of both machines." }],
]);

/** The server's certificate was not signed by the authority in `file`. */
export class WrongAuthority extends Error {
  override readonly name = "WrongAuthority";
  readonly file: string;

  constructor(file: string, cause: unknown) {
    super(`the certificate was not signed by the authority in ${file}`, { cause });
    this.file = file;
  }
}

/** `authority` is the content of `file`. */
export function fetchTrusting(authority: string, file: string) {
  const tls = { ca: [...rootCertificates, authority] };
  return async (url: string, init: RequestInit) => {
    try {
      return await fetch(url, { ...init, tls });
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      throw certificateCode.test(code) && !certificateFaults.has(code) ? new WrongAuthority(file, error) : error;
    }
  };
}
