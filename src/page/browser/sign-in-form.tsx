// Asks for a name and a password, and checks them. They are kept only in the page's memory.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Credentials } from "../../client/index.ts";
import { CredentialFields } from "./credential-fields.tsx";

interface SignInFormProps {
  /** The user who is signed in, and whom the service no longer accepts. Undefined if nobody is. */
  readonly username: string | undefined;
  /** Returns why the sign-in failed. */
  readonly onSignIn: (credentials: Credentials) => Promise<string | undefined>;
  /** Undefined if the page can show nothing without a sign-in. */
  readonly onCancel?: () => void;
}

export function SignInForm({ username, onSignIn, onCancel }: SignInFormProps) {
  const [credentials, setCredentials] = useState({ username: username ?? "", password: "" });
  const [problem, setProblem] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const focus = (field: "username" | "password") =>
    form.current?.querySelector<HTMLElement>(`[data-control="${field}"]`)?.focus();
  useLayoutEffect(() => focus(username === undefined ? "username" : "password"), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setIsBusy(true);
    setProblem(await onSignIn(credentials));
    setCredentials({ ...credentials, password: "" });
    setIsBusy(false);
    focus("password");
  };
  return (
    <form class="sign-in fields" ref={form} onSubmit={submit}>
      <p class="hint">
        {username === undefined
          ? "This service asks for a name and a password. They stay in this tab until you reload or close it."
          : "The service no longer accepts this password. To sign in as somebody else, sign out first."}
      </p>
      <CredentialFields
        credentials={credentials}
        // Unsent edits belong to the user who made them, so the name is fixed.
        onChange={(typed) =>
          setCredentials((now) => ({ ...now, ...typed, ...(username !== undefined && { username }) }))
        }
        required
      />
      <p class="problem" role="alert">
        {problem}
      </p>
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={isBusy}>
          {isBusy ? "Signing in …" : "Sign in"}
        </button>
        {onCancel && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}
