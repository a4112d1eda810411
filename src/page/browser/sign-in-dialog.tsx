// Asks for a name and a password. They are kept only in the page's memory.

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { SignIn, SignInForm } from "../sign-in.ts";
import { CredentialFields } from "./credential-fields.tsx";
import { Dialog } from "./dialog.tsx";

interface SignInDialogProps {
  readonly signIn: SignIn;
  readonly form: SignInForm;
  /** The name is kept outside the dialog, so that it is still there when the dialog opens again. */
  readonly username: string;
  readonly onUsername: (username: string) => void;
  /** Gets the focus when the form closes, if the button that opened it is gone. */
  readonly nextFocus: RefObject<HTMLElement | null>;
}

export function SignInDialog({ signIn, form, username, onUsername, nextFocus }: SignInDialogProps) {
  const [password, setPassword] = useState("");
  const passwordField = useRef<HTMLInputElement>(null);
  // The dialog gives the focus to its first field. If that field has a name already, the password comes next.
  useLayoutEffect(() => {
    if (username !== "") passwordField.current?.focus();
  }, []);
  // In a low window, the buttons could hide what went wrong.
  const problem = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => {
    if (form.problem !== undefined) problem.current?.scrollIntoView({ block: "nearest" });
  }, [form.problem, form.busy]);
  return (
    <Dialog title="Sign in" kind="sign-in" onClose={() => signIn.cancel()} nextFocus={nextFocus}>
      <p>
        This instance asks for a name and a password. They stay in this tab’s memory, and are forgotten when you reload
        or close the tab.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          signIn.submit({ username, password });
          setPassword("");
          // The button is disabled now and loses the focus. If the password was wrong, the user types another one.
          passwordField.current?.focus();
        }}
      >
        <CredentialFields
          credentials={{ username, password }}
          onChange={(credentials) => {
            onUsername(credentials.username);
            setPassword(credentials.password);
          }}
          required
          passwordRef={passwordField}
        />
        <p class="problem" role="alert" ref={problem}>
          {form.problem}
        </p>
        <div class="buttons">
          <button type="submit" class="primary" disabled={form.busy}>
            {form.busy ? "Signing in …" : "Sign in"}
          </button>
          <button type="button" onClick={() => signIn.cancel()}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
