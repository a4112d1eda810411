// The fields for a name and a password, as browsers and password managers recognise them.

import type { RefObject } from "preact";
import type { Credentials } from "../../client/basic.ts";

interface CredentialFieldsProps {
  readonly credentials: Credentials;
  readonly onChange: (credentials: Credentials) => void;
  readonly required?: boolean;
  readonly passwordRef?: RefObject<HTMLInputElement | null>;
}

export function CredentialFields({ credentials, onChange, required = false, passwordRef }: CredentialFieldsProps) {
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
          {...(passwordRef && { ref: passwordRef })}
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
