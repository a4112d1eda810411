// The fields for a name and a password, as browsers and password managers recognise them. What is typed stays in the
// fields until the form asks for it.

import type { Credentials } from "../../client/basic.ts";

interface CredentialFieldsProps {
  /** Who must sign in. Undefined if that may be anybody. */
  readonly username?: string | undefined;
  readonly required?: boolean;
}

export function CredentialFields({ username, required = false }: CredentialFieldsProps) {
  return (
    <>
      <label>
        Name
        <input
          name="username"
          defaultValue={username ?? ""}
          readOnly={username !== undefined}
          autocomplete="username"
          autocapitalize="none"
          required={required}
          data-control="username"
        />
      </label>
      <label>
        Password
        <input
          name="password"
          type="password"
          autocomplete="current-password"
          required={required}
          data-control="password"
        />
      </label>
    </>
  );
}

export function typedCredentials(form: FormData): Credentials {
  return { username: String(form.get("username") ?? ""), password: String(form.get("password") ?? "") };
}
