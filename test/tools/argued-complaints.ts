// Prism's complaints that do not point to a mistake in the description. Each has an argument that says why.

interface Complaint {
  /** Where the complaint is and what it says. */
  readonly text: string;
  readonly request: Request;
  /** The status of the service's answer. */
  readonly status: number;
}

interface Argument {
  readonly because: string;
  readonly covers: (complaint: Complaint) => boolean;
  uses: number;
}

function argument(because: string, covers: (complaint: Complaint) => boolean): Argument {
  return { because, covers, uses: 0 };
}

export const argued: readonly Argument[] = [
  argument(
    "The request is wrong on purpose, and the service refuses it too.",
    ({ text, status }) => /^request|^not passed on/.test(text) && status >= 400,
  ),
  argument(
    "A path that does not exist and a method that is not offered are in the introduction, not at each operation. Prism joins double slashes, so it takes //api for a path that exists.",
    ({ text, status }) =>
      text.startsWith("response: Unable to match the returned status") && [404, 405].includes(status),
  ),
  argument(
    "Prism expects a body after HEAD, because the header of the answer names its type.",
    ({ text, request }) => text.startsWith("not passed back") && request.method === "HEAD",
  ),
  argument(
    "Name, Notes and Done are described as most apps send them, so that generated clients have types for them. The description says that they are not checked.",
    ({ text }) => /body(\.[0-9]+|\.current)?\.(Name|Notes|Done): .* must be (string|boolean),null$/.test(text),
  ),
  argument(
    "The service takes the ID in any spelling, and answers with the one that it was sent. The description prefers ID, and an instance with --field-names camel describes id.",
    ({ text }) => /body(\.[0-9]+|\.current)?: .* must have required property 'ID'$/.test(text),
  ),
  argument(
    "Without --auth, credentials are ignored, even if they are malformed. With it, `basic` may be in any letter case, and Prism accepts only one.",
    ({ text, request }) => text === "request: Invalid security scheme used" && request.headers.has("authorization"),
  ),
  argument(
    "The body of a delete is read as JSON whatever its Content-Type is, because some HTTP clients send none.",
    ({ text, request, status }) => request.method === "DELETE" && status === 204 && text.startsWith("request"),
  ),
  argument(
    "Prism cannot read a byte-order mark, or a Content-Type that ends in a semicolon. The service is more patient.",
    ({ text, status }) => text.startsWith("not passed on") && status === 201,
  ),
];

/** True if an argument covers the complaint. Counts how often each argument is used. */
export function isArgued(complaint: Complaint): boolean {
  const found = argued.find(({ covers }) => covers(complaint));
  if (found) found.uses++;
  return found !== undefined;
}
