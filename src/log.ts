// The log: one line an event on standard error, as text for people or JSON for programs.

export const logFormats = ["text", "json"] as const;
export type LogFormat = (typeof logFormats)[number];

type Level = "info" | "warn" | "error";

export type Log = (level: Level, message: string, fields?: Readonly<Record<string, string | number>>) => void;

export function createLog(format: LogFormat, write: (line: string) => void): Log {
  return (level, message, fields = {}) => {
    const time = new Date().toISOString();
    if (format === "json") {
      write(JSON.stringify({ time, level, message, ...fields }));
      return;
    }
    const extras = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
    // A line break inside a message would make two log lines of one event.
    write(`${time} ${level.padEnd(5)} ${message}${extras.join("")}`.replaceAll("\n", "\\n"));
  };
}

/** All that is known of an unexpected error, for the log only: nothing of it may reach a client. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : ` (caused by ${describeError(error.cause)})`;
  return `${error.stack ?? error.message}${cause}`;
}
