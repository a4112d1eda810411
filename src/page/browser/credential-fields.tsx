// The fields for a name and a password, as browsers and password managers recognise them.

import type { Credentials } from "../../client/basic.ts";

interface CredentialFieldsProps {
  readonly credentials: Credentials;
  /** Gets only what was typed: a password manager may fill both fields before the page is drawn again. */
  readonly onChange: (typed: Partial<Credentials>) => void;
  readonly required?: boolean;
}

export function CredentialFields({ credentials, onChange, required = false }: CredentialFieldsProps) {
  return (
    <>
      <label>
        Name
        <input
          value={credentials.username}
          onInput={({ currentTarget: { value } }) => onChange({ username: value })}
          autocomplete="username"
          autocapitalize="none"
          required={required}
          data-control="username"
        />
      </label>
      <label>
        Password
        <input
          type="password"
          value={credentials.password}
          onInput={({ currentTarget: { value } }) => onChange({ password: value })}
          autocomplete="current-password"
          required={required}
          data-control="password"
        />
      </label>
    </>
  );
}
