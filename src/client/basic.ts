// Encodes a user name and a password for HTTP Basic, as the value of the `Authorization` header (RFC 7617, UTF-8).

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export function basic({ username, password }: Credentials): string {
  if (username.includes(":")) throw new TypeError("A user name with a colon cannot be sent with HTTP Basic.");
  // Percent-encoding is the only source of UTF-8 bytes that every runtime has.
  const bytes = encodeURIComponent(`${username}:${password}`).replace(/%(..)/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return `Basic ${btoa(bytes)}`;
}
