// The fields for a name and a password, as browsers and password managers recognise them.

import type { Credentials } from "../../client/basic.ts";

interface CredentialFieldsProps {
  readonly credentials: Credentials;
  readonly onChange: (credentials: Credentials) => void;
  readonly required?: boolean;
}

export function CredentialFields({ credentials, onChange, required = false }: CredentialFieldsProps) {
  return (
    <>
      <label>
        Name
        <input
          value={credentials.username}
          onInput={({ currentTarget: { value } }) => onChange({ ...credentials, username: value })}
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
          onInput={({ currentTarget: { value } }) => onChange({ ...credentials, password: value })}
          autocomplete="current-password"
          required={required}
          data-control="password"
        />
      </label>
    </>
  );
}
