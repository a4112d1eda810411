// Asks for a name and a password, and checks them.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { CredentialFields, typedCredentials } from "./credential-fields.tsx";
import { usePage } from "./page-context.ts";

export function SignInForm() {
  const { session, open } = usePage();
  /** Undefined unless somebody is signed in whom the service no longer accepts. */
  const { username } = session;
  const [problem, setProblem] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const stayId = useId();
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("input:read-write")?.focus(), []);
  const submit = async (event: Event & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    if (isBusy) return;
    setIsBusy(true);
    const typed = new FormData(event.currentTarget);
    const found = await session.signIn(typedCredentials(typed), typed.has("stays"));
    if (found === undefined) open();
    setProblem(found);
    setIsBusy(false);
    const password = form.current?.querySelector<HTMLInputElement>('[data-control="password"]');
    if (password) password.value = "";
    password?.focus();
  };
  if (session.settings.tokensOnly)
    return (
      <p class="sign-in hint">
        This service takes tokens of an identity provider only. Use it with your app: this page signs in with a name and
        a password.
      </p>
    );
  return (
    <form class="sign-in fields" ref={form} onSubmit={submit}>
      <p class="hint">
        {username === undefined
          ? "This service asks for a name and a password. Until you sign out, this device may keep your list."
          : "The service no longer accepts this password. To sign in as somebody else, sign out first."}
      </p>
      {/* Unsent edits belong to the user who made them, so the name is fixed. */}
      <CredentialFields username={username} required />
      <div class="value">
        <input id={stayId} name="stays" type="checkbox" class="tick" data-control="stay" />
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
