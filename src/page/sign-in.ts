// Who is signed in, and the form that asks for a name and a password. If the user closes the form, or is typing when it
// should open, it is postponed: the edits wait, and a banner offers to sign in.

import type { Credentials, TodoClient } from "../client/index.ts";

export interface SignInForm {
  /** Why the last attempt to sign in failed, or why the user must sign in again. Undefined if neither is the case. */
  readonly problem: string | undefined;
  /** True while the credentials are being checked. */
  readonly busy: boolean;
}

export interface SignInParts {
  /** Makes a client that sends these credentials. The password is not kept anywhere else. */
  readonly connect: (credentials: Credentials | undefined) => TodoClient<string>;
  /** True while the user is typing. The form does not open by itself then, because it would receive the text. */
  readonly isTyping: () => boolean;
  readonly onChange: () => void;
  /** Called when the user has sent the form. The credentials still have to be checked. */
  readonly onSubmit: () => void;
  /** Called before the credentials are forgotten, so that what needs them can still be sent. */
  readonly onSigningOut: () => void;
  readonly onSignOut: () => void;
}

interface SignInState {
  readonly client: TodoClient<string>;
  readonly username: string | undefined;
  /** True if the service has accepted the credentials before. */
  readonly isAccepted: boolean;
  readonly form: "closed" | "open" | "busy";
  /** What the form says when it is open. If the form is postponed, it says this later. */
  readonly problem: string | undefined;
  readonly isPostponed: boolean;
}

const wrongText = "The name or the password is wrong.";
const outdatedText = "You were signed out, because the service no longer accepts this name and password.";

export class SignIn {
  readonly #parts: SignInParts;
  #state: SignInState;

  constructor(parts: SignInParts) {
    this.#parts = parts;
    this.#state = {
      client: parts.connect(undefined),
      username: undefined,
      isAccepted: false,
      form: "closed",
      problem: undefined,
      isPostponed: false,
    };
  }

  /** Sends the credentials of the user, if there are any. */
  get client(): TodoClient<string> {
    return this.#state.client;
  }

  /** The name that the user has signed in with, also while it is being checked. */
  get username(): string | undefined {
    return this.#state.username;
  }

  /** True if the user has signed in, and the service has not accepted the credentials yet. */
  get isUnchecked(): boolean {
    return this.#state.username !== undefined && !this.#state.isAccepted;
  }

  /** What the form says, or would say if it were not postponed. */
  get problem(): string | undefined {
    return this.#state.problem;
  }

  /** Undefined while the form is closed. */
  get form(): SignInForm | undefined {
    const { form, problem } = this.#state;
    return form === "closed" ? undefined : { problem, busy: form === "busy" };
  }

  /**
   * True if the user closed the form, or if it did not open because the user was typing. Edits wait then. The form
   * opens by itself again when the user does something that needs a sign-in and is not typing.
   */
  get isPostponed(): boolean {
    return this.#state.isPostponed;
  }

  openForm(): void {
    this.#become({ form: "open", isPostponed: false });
  }

  /** Closes the form at the user's wish, and postpones it. */
  cancel(): void {
    this.#become({ form: "closed", problem: undefined, isPostponed: true });
  }

  submit(credentials: Credentials): void {
    this.#become({
      client: this.#parts.connect(credentials),
      username: credentials.username,
      isAccepted: false,
      form: "busy",
      problem: undefined,
      isPostponed: false,
    });
    this.#parts.onSubmit();
  }

  signOut(): void {
    this.#parts.onSigningOut();
    this.#become({ client: this.#parts.connect(undefined), username: undefined, problem: undefined });
    this.#parts.onSignOut();
  }

  /** Call this when the service has accepted the credentials, or needs none. */
  accepted(): void {
    this.#become({ isAccepted: true, form: "closed", problem: undefined });
  }

  /** Call this when the connection failed. If credentials were being checked, the form says why that was impossible. */
  failed(problem: string): void {
    if (this.#state.form === "busy") this.#become({ form: "open", problem });
  }

  /** Call this when the service could not check the credentials. The page forgets them, and the form says why. */
  giveUp(problem: string): void {
    this.failed(problem);
    this.#become({ client: this.#parts.connect(undefined), username: undefined });
  }

  /**
   * Call this when the service asks for credentials or refuses them. Forgets the credentials. Opens the form, unless it
   * is postponed or the user is typing.
   */
  ask(): void {
    const { username, isAccepted, form, problem, isPostponed: wasPostponed } = this.#state;
    // A user who is typing is not interrupted. But if the form is open, the user is typing into the form itself.
    const isPostponed = wasPostponed || (form === "closed" && this.#parts.isTyping());
    this.#become({
      client: this.#parts.connect(undefined),
      username: undefined,
      form: isPostponed ? form : "open",
      problem: username === undefined ? problem : isAccepted ? outdatedText : wrongText,
      isPostponed,
    });
  }

  /** Call this when the user has done something that may need a sign-in. The form may open again after that. */
  resume(): void {
    if (!this.#parts.isTyping()) this.#become({ isPostponed: false });
  }

  #become(next: Partial<SignInState>): void {
    this.#state = { ...this.#state, ...next };
    this.#parts.onChange();
  }
}
