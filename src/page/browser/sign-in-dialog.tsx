// Asks for a name and a password. They are kept only in the page's memory.

import { useState } from "preact/hooks";
import type { Session, SignIn } from "../session.ts";
import { Dialog } from "./dialog.tsx";

interface SignInDialogProps {
  readonly session: Session;
  readonly signIn: SignIn;
  /** The name outlives the dialog, so whoever closes it does not have to type the name again. */
  readonly username: string;
  readonly onUsername: (username: string) => void;
}

export function SignInDialog({ session, signIn, username, onUsername }: SignInDialogProps) {
  const [password, setPassword] = useState("");
  return (
    <Dialog title="Sign in" kind="sign-in" onClose={() => session.cancelSignIn()}>
      <p>This instance asks for a name and a password. They stay in this tab’s memory and are forgotten with it.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          session.signInAs({ username, password });
          setPassword("");
        }}
      >
        <label>
          Name
          <input
            value={username}
            onInput={(event) => onUsername(event.currentTarget.value)}
            autocomplete="username"
            autocapitalize="none"
            required
            data-control="username"
          />
        </label>
        <label>
          Password
          <input
            type="password"
            value={password}
            onInput={(event) => setPassword(event.currentTarget.value)}
            autocomplete="current-password"
            required
            data-control="password"
          />
        </label>
        <p class="problem" role="alert">
          {signIn.problem}
        </p>
        <div class="buttons">
          <button type="submit" class="primary" disabled={signIn.busy}>
            {signIn.busy ? "Signing in …" : "Sign in"}
          </button>
          <button type="button" onClick={() => session.cancelSignIn()}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
