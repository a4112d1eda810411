// `todoitems serve`: reads the settings, starts an instance, and runs until it gets a signal.

import { realLimits } from "../collection/limits.ts";
import { type Danger, exposedFiles } from "../files/exposed-file.ts";
import { systemReason } from "../files/system-reason.ts";
import { createLog, describeError, type Log } from "../http/log.ts";
import type { Environment } from "../terminal/environment.ts";
import { asTyped } from "../terminal/program-name.ts";
import { widthOf } from "../terminal/wrapped-text.ts";
import { explainFixable } from "./advice.ts";
import { greeting, readyLine } from "./greeting.ts";
import { startInstance } from "./instance.ts";
import { checkPortsAreFree } from "./listen-advice.ts";
import { isLoopback } from "./loopback.ts";
import { startMetricsServer } from "./metrics-server.ts";
import { readSettings } from "./settings.ts";
import type { Settings } from "./settings-table.ts";

/** The service cannot start, for a reason that the operator can fix. */
class StartError extends Error {
  override readonly name = "StartError";
  readonly exitCode: number;

  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** A second signal within this time counts as a repetition of the first. Under npm, one Ctrl-C arrives twice. */
const sameSignalMs = 500;

/**
 * Runs until it gets a signal, and resolves to the exit code. `otherVariables` lists the environment variables that
 * only other commands read. `serve` does not report them as unknown. Only tests have other `limits`.
 */
export async function runService(
  args: readonly string[],
  environment: Environment,
  otherVariables: readonly string[],
  limits = realLimits,
): Promise<number> {
  const { settings, warnings } = requireSettings(args, environment, otherVariables);
  const log = createLog(settings.log, (line) => process.stderr.write(`${line}\n`));
  endOnDefect(log);
  for (const warning of warnings) log("warn", warning);
  for (const { text, hint } of dangers(settings)) log("warn", `${text}. ${hint}`);
  // Listen for signals before printing the ready line, because a program that has read it may send a signal at once.
  const stopSignal = firstSignal();
  const stop = await atStart(async () => {
    // Whoever starts the service twice should hear of the port at once, before the start waits for the store's lock. A
    // start that fails because of a port also leaves no new store behind.
    checkPortsAreFree(settings);
    const service = await startInstance(settings, environment, log, limits);
    for (const { text, hint } of exposedFiles([settings.users, settings.tlsKey])) log("warn", `${text}. ${hint}`);
    const metricsPort = startMetricsServer(settings, service, log);
    const text = greeting(settings, { ...service, metricsPort }, widthOf(process.stdout));
    await announce(`${service.listeners.map(readyLine).join("\n")}\n\n${text}\n\n`, log);
    return service.stop;
  });
  const signal = await stopSignal;
  const { shutdownDelaySeconds } = settings;
  const delay = shutdownDelaySeconds === 0 ? "" : ` in ${shutdownDelaySeconds} s`;
  log("info", `${signal}: stopping${delay} after the responses to the requests in progress`);
  return stop(shutdownDelaySeconds);
}

/** The settings of the service. Throws a `StartError` that names everything that is wrong with them. */
function requireSettings(args: readonly string[], environment: Environment, otherVariables: readonly string[]) {
  const result = readSettings(args, environment, otherVariables);
  if (!("problems" in result)) return result;
  const problems = result.problems.map((problem) => `  ${problem}`);
  const lastLine = `${asTyped("help serve")} lists the settings.`;
  throw new StartError(["todoitems cannot start with these settings:", ...problems, lastLine].join("\n"), 2);
}

/**
 * Calls `start`, which starts a service. Throws a `StartError` if that fails for a reason that the operator can fix.
 */
async function atStart<Result>(start: () => Promise<Result>): Promise<Result> {
  try {
    return await start();
  } catch (error) {
    const reason = explainFixable(error);
    if (reason === undefined) throw error;
    throw new StartError(`todoitems cannot start: ${reason}`, 1, { cause: error });
  }
}

/** Prints the start-up text. If that fails, the service goes on, and the log gives the reason. */
async function announce(text: string, log: Log): Promise<void> {
  try {
    await Bun.write(Bun.stdout, text);
  } catch (error) {
    log("warn", `The start-up text cannot be written to standard output: ${systemReason(error)}`);
  }
}

/**
 * After an error that nobody handles, the state of the process is unknown. So the process ends at once. The operator's
 * supervisor starts it again. Every stored write survives this.
 */
function endOnDefect(log: Log): void {
  const end = (error: unknown) => {
    log("error", `A defect of todoitems ends this process; please report it: ${describeError(error)}`);
    process.exit(1);
  };
  process.on("unhandledRejection", end);
  process.on("uncaughtException", end);
}

/** Describes settings that are allowed but dangerous, and says what to do about them. */
export function dangers({ host, port, auth }: Settings): Danger[] {
  if (auth === "off" || port === undefined || isLoopback(host)) return [];
  return [
    {
      text: `Passwords are sent over plain HTTP on ${host}, so anybody on the network can read them`,
      hint: "Use --https-port with --port off, or listen on localhost",
    },
  ];
}

/**
 * Resolves at the first signal to stop. If another signal comes more than `sameSignalMs` later, the process ends at
 * once, because somebody does not want to wait.
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
