// The code that runs in the thread of a `CommitThread`: a SqliteEngine that is driven by messages.

import { type News, type PlannedChange, StoreError } from "../../collection/engine.ts";
import { changesOf, type FromThread, missedMessage, type ToThread } from "./commit-messages.ts";
import { SqliteEngine } from "./sqlite-engine.ts";

declare const self: Worker;

let engine: SqliteEngine | undefined;
/** The plan that the latest call of `decideAgain` has asked for. Undefined if there was no such call. */
let planned: PromiseWithResolvers<readonly PlannedChange[]> | undefined;

/**
 * A checkpoint copies the log into the store. This takes several syncs, and a commit would have to wait for them. So
 * the checkpoint starts only when no commit has come for this long.
 */
const quietMs = 5;
let checkpointTimer: ReturnType<typeof setTimeout> | undefined;

class Abandoned extends Error {}

function send(message: FromThread): void {
  self.postMessage(JSON.stringify(message));
}

/**
 * Sends the changes of other processes to the thread that answers requests. That thread makes a new plan, and the
 * promise resolves to the plan.
 */
function decideAgain(missed: News): Promise<readonly PlannedChange[]> {
  planned = Promise.withResolvers();
  send(missedMessage(missed));
  return planned.promise;
}

/**
 * Runs a checkpoint, which copies the log into the store, when there is a pause between commits. (`checkpoint` does
 * nothing if the log has hardly grown.) If there is no pause, runs it once the log is long.
 */
function checkpointLater(): void {
  if (engine?.isLogLong()) engine.checkpoint();
  else checkpointTimer = setTimeout(() => engine?.checkpoint(), quietMs);
}

async function handle(message: ToThread): Promise<boolean> {
  clearTimeout(checkpointTimer);
  switch (message[0]) {
    case "open":
      engine = new SqliteEngine(message[1], {
        readOnly: false,
        isJoined: true,
        onWarning: (text) => send(["warning", text]),
      });
      return true;
    case "commit": {
      const [, since, rows] = message;
      const changes = changesOf(rows);
      const decide = (missed: News | undefined) => (missed ? decideAgain(missed) : changes);
      return (await engine?.commitOnly({ since, decide })) ?? false;
    }
    case "check-ready":
      await engine?.checkReady();
      return true;
    case "close":
      await engine?.close();
      return true;
    default:
      return true;
  }
}

self.onmessage = async ({ data }: MessageEvent<string>) => {
  const message: ToThread = JSON.parse(data);
  if (message[0] === "plan") {
    planned?.resolve(changesOf(message[1]));
    return;
  }
  if (message[0] === "abandon") {
    planned?.reject(new Abandoned());
    return;
  }
  try {
    send([(await handle(message)) ? "done" : "behind"]);
    if (message[0] === "commit") checkpointLater();
  } catch (error) {
    const retired = engine?.isRetired ?? false;
    if (error instanceof StoreError) send(["failed", error.message, error.undecided, retired]);
    // The thread that sent "abandon" knows the reason, so the message is empty.
    else if (error instanceof Abandoned) send(["failed", "", false, retired]);
    else {
      const cause = error instanceof Error ? error.stack : error;
      send(["failed", `a defect in the thread that commits: ${cause}`, true, retired]);
    }
  }
};
