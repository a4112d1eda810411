// Encodes a user name and a password for HTTP Basic, as the value of the `Authorization` header (RFC 7617, UTF-8).

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export function basic({ username, password }: Credentials): string {
  if (username.includes(":")) throw new TypeError("A user name with a colon cannot be sent with HTTP Basic.");
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}
