// Asks before a user signs out whose edits are not all sent: signing out deletes them.

import { Dialog } from "./dialog.tsx";

interface SignOutDialogProps {
  readonly onSignOut: () => void;
  readonly onClose: () => void;
}

export function SignOutDialog({ onSignOut, onClose }: SignOutDialogProps) {
  return (
    <Dialog title="Sign out?" kind="signing-out" onClose={onClose}>
      <p>If you sign out, the edits that the service does not have yet are deleted.</p>
      <div class="buttons">
        <button type="button" class="primary" onClick={onClose} data-control="stay-signed-in">
          Stay signed in
        </button>
        <button type="button" onClick={onSignOut} data-control="delete-and-sign-out">
          Sign out anyway
        </button>
      </div>
    </Dialog>
  );
}
