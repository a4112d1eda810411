// A `fetch` that trusts one more certificate authority, and says so if the server's certificate is from another one.

import { rootCertificates } from "node:tls";

/** Matches the error codes of a certificate that is not trusted. */
export const certificateCode = /CERT|ISSUER|SIGNED|SIGNATURE/;

/** What is wrong with a certificate that no authority can make valid, by error code. */
export const certificateFaults: ReadonlyMap<string, string> = new Map([
  [
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "is for another host name. Use a name that the certificate contains, with --server.",
  ],
  ["CERT_HAS_EXPIRED", "has expired. Renew it on that server, and check the clock of this machine."],
  ["CERT_NOT_YET_VALID", "is not valid yet. Check the clocks of both machines."],
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
