// Lets Ctrl-C or SIGTERM end a command that writes a file, but only after the command has removed its unfinished file.

import { existsSync } from "node:fs";
import { CommandError } from "../command-line/errors.ts";

/** How often to look whether a signal has arrived. */
const pauseEveryMs = 50;

/** The user or the system ended the command. The exit code is the one of a program that the signal has ended. */
class Interrupted extends CommandError {
  override readonly name = "Interrupted";
  override readonly exitCode: number;

  constructor(target: string, isKept: boolean, exitCode: number) {
    super(`Interrupted: ${target} ${isKept ? "stays as it was" : "was not written"}.`);
    this.exitCode = exitCode;
  }
}

/**
 * Runs an action that writes a file or a store. It must stop soon after its signal is aborted, and remove what is
 * unfinished. `exists` says whether the target exists already, and so stays as it was.
 */
export async function interruptible<Result>(
  target: string,
  action: (signal: AbortSignal) => Promise<Result>,
  exists = () => existsSync(target),
): Promise<Result> {
  const controller = new AbortController();
  const { signal } = controller;
  const onInterrupt = () => controller.abort(new Interrupted(target, exists(), 130));
  const onTerminate = () => controller.abort(new Interrupted(target, exists(), 143));
  process.on("SIGINT", onInterrupt).on("SIGTERM", onTerminate);
  try {
    return await action(signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    process.off("SIGINT", onInterrupt).off("SIGTERM", onTerminate);
  }
}

/** Yields the same items. Throws when the signal is aborted. */
export async function* untilAborted<Item>(items: AsyncIterable<Item>, signal: AbortSignal): AsyncGenerator<Item> {
  let lookedAt = Number.NEGATIVE_INFINITY;
  for await (const item of items) {
    if (performance.now() - lookedAt > pauseEveryMs) {
      // The handlers of signals run only when the event loop gets a turn. Items that come from a file give it none.
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      lookedAt = performance.now();
    }
    yield item;
  }
}
