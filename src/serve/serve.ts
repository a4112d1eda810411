// `todoitems serve`: reads the settings, starts one instance or several workers, and runs until it gets a signal.

import { StoreError } from "../collection/engine.ts";
import { UsersFileError } from "../credentials/users-file.ts";
import { createLog, type Log } from "../http/log.ts";
import { CertificateError } from "./certificate-files.ts";
import type { Environment } from "./environment.ts";
import { greeting, readyLine } from "./greeting.ts";
import { startInstance } from "./instance.ts";
import { ListenError } from "./listen-advice.ts";
import { isLoopback } from "./loopback.ts";
import { SeedError } from "./seed.ts";
import { readSettings } from "./settings.ts";
import type { Settings } from "./settings-table.ts";
import { parentLost, reportReady, startWorkers, WorkerError } from "./workers.ts";

/** Errors that the operator can fix. Any other error is a defect. */
const startUpErrors = [StoreError, ListenError, SeedError, UsersFileError, CertificateError, WorkerError];
/** A second signal within this time counts as the same one. Under npm, one Ctrl-C arrives twice. */
const sameSignalMs = 500;

/**
 * Runs until it gets a signal, and resolves to the exit code. `otherVariables` lists the environment variables that
 * only other commands read; `serve` does not report these as unknown.
 */
export async function serve(
  args: readonly string[],
  environment: Environment,
  otherVariables: readonly string[],
): Promise<number> {
  const result = readSettings(args, environment, otherVariables);
  if ("problems" in result) {
    console.error(
      ["todoitems cannot start with these settings:", ...result.problems.map((problem) => `  ${problem}`)].join("\n"),
    );
    return 2;
  }
  const { settings, warnings } = result;
  const log = openLog(settings);
  for (const warning of [...warnings, ...dangers(settings)]) log("warn", warning);
  // Listen for signals before printing the ready line, because a program that has read it may send a signal at once.
  const stopSignal = firstSignal();
  const stop = await atStart(async () => {
    const service =
      settings.workers === 1
        ? await startInstance(settings, environment, log)
        : await startWorkers(settings, args, log);
    const text = greeting(settings, service, isColourful(environment));
    console.log(`${service.listeners.map(readyLine).join("\n")}\n\n${text}\n`);
    return service.stop;
  });
  if (!stop) return 1;
  log("info", `${await stopSignal}: finishing the requests under way`);
  return stop();
}

/** Runs one of the processes that `serve --workers` starts. It prints no greeting, and ends when its parent ends. */
export async function work(args: readonly string[], environment: Environment): Promise<number> {
  const result = readSettings(args, environment);
  if ("problems" in result) return 2;
  const { settings } = result;
  const log = openLog(settings);
  const stopSignal = Promise.race([firstSignal(), parentLost()]);
  const stop = await atStart(async () => {
    const service = await startInstance(settings, environment, log);
    reportReady(service);
    return service.stop;
  });
  if (!stop) return 1;
  await stopSignal;
  return stop();
}

/** Starts a service. If that fails with an error that the operator can fix, prints the error and returns undefined. */
async function atStart<Result>(start: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await start();
  } catch (error) {
    if (!startUpErrors.some((kind) => error instanceof kind)) throw error;
    console.error(`todoitems cannot start: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

/** Colour is used only on a terminal, and never if `NO_COLOR` is set (no-color.org) or `TERM` is `dumb`. */
function isColourful(environment: Environment): boolean {
  return process.stdout.isTTY && !environment["NO_COLOR"] && environment["TERM"] !== "dumb";
}

function openLog({ log }: Settings): Log {
  return createLog(log, (line) => process.stderr.write(`${line}\n`));
}

function dangers({ host, port, auth }: Settings): string[] {
  if (auth === "off" || port === undefined || isLoopback(host)) return [];
  return [
    `Passwords travel over plain HTTP on ${host}: anybody on the way can read them. Use --https-port with --port off, or listen on localhost`,
  ];
}

/**
 * Resolves at the first signal to stop. Another signal, if it comes more than `sameSignalMs` later, ends the process at
 * once, for people who do not want to wait.
 */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      firstAt ??= performance.now();
      if (performance.now() - firstAt > sameSignalMs) process.exit(1);
      resolve(signal);
    };
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, onSignal);
  });
}
