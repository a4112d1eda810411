// Health, for programs that watch over the service: does it run, and can it answer?

import { StoreError } from "../collection/engine.ts";
import type { TodoCollection } from "../collection/todo-collection.ts";
import { Answer } from "../wire/message.ts";
import { jsonHeaders } from "./headers.ts";

export function liveAnswer(): Answer {
  return healthAnswer(200, "live");
}

/** Asks the store, so that an instance that gets no requests recovers by itself. */
export async function readyAnswer(collection: TodoCollection): Promise<Answer> {
  try {
    await collection.refresh();
    return healthAnswer(200, "ready");
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return healthAnswer(503, "store unavailable");
  }
}

function healthAnswer(status: number, state: string): Answer {
  return new Answer(status, { ...jsonHeaders, "Cache-Control": "no-store" }, JSON.stringify({ status: state }));
}
