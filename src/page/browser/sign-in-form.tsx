// Asks for a name and a password, and checks them.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { CredentialFields } from "./credential-fields.tsx";
import { usePage } from "./page-context.ts";

export function SignInForm() {
  const { session, open } = usePage();
  /** Undefined unless somebody is signed in whom the service no longer accepts. */
  const { username } = session;
  const [credentials, setCredentials] = useState({ username: username ?? "", password: "" });
  const [stays, setStays] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const stayId = useId();
  const form = useRef<HTMLFormElement>(null);
  const focus = (field: "username" | "password") =>
    form.current?.querySelector<HTMLElement>(`[data-control="${field}"]`)?.focus();
  useLayoutEffect(() => focus(username === undefined ? "username" : "password"), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setIsBusy(true);
    const found = await session.signIn(credentials, stays);
    if (found === undefined) open();
    setProblem(found);
    setCredentials({ ...credentials, password: "" });
    setIsBusy(false);
    focus("password");
  };
  return (
    <form class="sign-in fields" ref={form} onSubmit={submit}>
      <p class="hint">
        {username === undefined
          ? "This service asks for a name and a password. Until you sign out, this device may keep your list."
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
      <div class="value">
        <input
          id={stayId}
          type="checkbox"
          class="tick"
          checked={stays}
          onChange={({ currentTarget: { checked } }) => setStays(checked)}
          data-control="stay"
        />
        <label for={stayId}>Stay signed in in this tab</label>
      </div>
      <p class="problem" role="alert">
        {problem}
      </p>
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={isBusy}>
          {isBusy ? "Signing in …" : "Sign in"}
        </button>
      </div>
    </form>
  );
}
