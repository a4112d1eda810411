// Health checks for programs that monitor the service: is it running, and can it answer requests?

import { StoreError } from "../collection/engine.ts";
import type { TodoCollection } from "../collection/todo-collection.ts";
import { Answer } from "../wire/message.ts";
import { jsonHeaders } from "./headers.ts";

export function liveAnswer(): Answer {
  return healthAnswer(200, "live");
}

/**
 * Asks the store whether it is available. So even an instance that gets no other requests notices when the store is
 * available again.
 */
export async function readyAnswer(collection: TodoCollection): Promise<Answer> {
  try {
    await collection.checkReady();
    return healthAnswer(200, "ready");
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return healthAnswer(503, "store unavailable");
  }
}

/**
 * The answer to the readiness check while the service is about to stop. The service still answers requests, but a load
 * balancer should use other instances.
 */
export function stoppingAnswer(): Answer {
  return healthAnswer(503, "stopping");
}

function healthAnswer(status: number, state: string): Answer {
  return new Answer(status, { ...jsonHeaders, "Cache-Control": "no-store" }, JSON.stringify({ status: state }));
}
