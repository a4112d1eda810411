// Checks a name and a password. With `--auth writes`, anybody may read the list, so its arrival does not show that the
// credentials are correct. Only a write shows that.

import { hasStatus, isPassing } from "../client/errors.ts";
import { isTodoError, type TodoClient } from "../client/index.ts";
import { newId } from "../client/item-text.ts";
import { messageOf } from "./sender.ts";

export type CredentialCheck =
  | { readonly kind: "right" }
  | { readonly kind: "wrong" }
  /** The service could not check them now, for example because there were too many wrong passwords before. */
  | { readonly kind: "failed"; readonly problem: string };

/**
 * Asks the service to delete an item that does not exist. The service checks the credentials first and then answers
 * 404, so nothing changes. The ID is new and the condition cannot hold, so no item can be hit by accident.
 */
export async function checkCredentials(client: TodoClient<string>): Promise<CredentialCheck> {
  try {
    await client.remove(newId(), { ifMatch: '"none"' });
  } catch (error) {
    if (hasStatus(error, 401)) return { kind: "wrong" };
    if (isPassing(error)) return { kind: "failed", problem: messageOf(error) };
    if (!isTodoError(error)) throw error;
  }
  return { kind: "right" };
}
