// Checks a name and a password. With `--auth writes`, anybody may read the list, so only a write shows whether they are
// right.

import { hasStatus } from "../client/errors.ts";
import type { TodoClient } from "../client/index.ts";
import { newId } from "../client/item-text.ts";
import { problemText } from "./page-status.ts";

/**
 * Returns why the client's credentials cannot be used, or undefined if they are right. Asks the service to delete an
 * item that does not exist: it checks the credentials first and then returns 404, so nothing changes.
 */
export async function credentialProblem(client: TodoClient<string>): Promise<string | undefined> {
  try {
    await client.remove(newId(), { ifMatch: '"none"' });
  } catch (error) {
    if (hasStatus(error, 401)) return "The name or the password is wrong.";
    if (!hasStatus(error, 404, 412)) return problemText(error);
  }
  return undefined;
}
