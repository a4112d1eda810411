// Health checks for programs that monitor the service: is it running, and can it answer requests?

import { StoreError } from "../collection/engine.ts";
import type { TodoStore } from "../collection/todo-store.ts";
import { Answer } from "../wire/message.ts";
import { jsonHeaders } from "./headers.ts";

/**
 * Asks the store whether it is available. So even an instance that gets no other requests notices when the store is
 * available again.
 */
export async function readyAnswer(store: TodoStore): Promise<Answer> {
  try {
    await store.checkReady();
    return healthAnswer(200, "ready");
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return healthAnswer(503, "store unavailable");
  }
}

export function healthAnswer(status: number, state: string, options?: { readonly closesConnection: boolean }): Answer {
  const headers = { ...jsonHeaders, "Cache-Control": "no-store" };
  return new Answer(status, headers, JSON.stringify({ status: state }), options);
}
