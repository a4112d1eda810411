// Lets Ctrl-C or SIGTERM end a command that writes a file, but only after the command has removed its unfinished file.

import { existsSync } from "node:fs";
import { CommandError } from "../command-line/errors.ts";

/** How often to look whether a signal has arrived. */
const pauseEveryMs = 50;

/** Signals within this time are taken for one. */
const sameSignalMs = 1_000;

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/** The user or the system ended the command. The exit code is the one of a program that the signal has ended. */
class Interrupted extends CommandError {
  override readonly name = "Interrupted";
  override readonly exitCode: number;

  constructor(target: string, isKept: boolean, signal: keyof typeof exitCodes) {
    super(`Interrupted: ${target} ${isKept ? "stays as it was" : "was not written"}.`);
    this.exitCode = exitCodes[signal];
  }
}

/**
 * Runs an action that writes a file or a store. It must stop soon after its signal is aborted, and remove what is
 * unfinished. If it does not stop, another Ctrl-C ends the program. `exists` says whether the target exists already, and
 * so stays as it was.
 */
export async function interruptible<Result>(
  target: string,
  action: (signal: AbortSignal) => Promise<Result>,
  exists = () => existsSync(target),
): Promise<Result> {
  const controller = new AbortController();
  const { signal } = controller;
  let abortedAt: number | undefined;
  const onSignal = (name: NodeJS.Signals) => {
    if (name !== "SIGINT" && name !== "SIGTERM") return;
    const interrupted = new Interrupted(target, exists(), name);
    // One Ctrl-C may arrive twice: from the terminal, and from a program that runs this one and passes the signal on.
    if (abortedAt !== undefined && performance.now() - abortedAt > sameSignalMs) process.exit(interrupted.exitCode);
    abortedAt ??= performance.now();
    controller.abort(interrupted);
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  try {
    return await action(signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
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
