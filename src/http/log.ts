// The log: one line on standard error for each event, as text for people or as JSON for programs.

export const logFormats = ["text", "json"] as const;
export type LogFormat = (typeof logFormats)[number];

type Level = "info" | "warn" | "error";

/** `message` is for people. `fields` contains details for programs, and appears only in the JSON format. */
export type Log = (level: Level, message: string, fields?: Readonly<Record<string, string | number>>) => void;

export function createLog(format: LogFormat, write: (line: string) => void): Log {
  return (level, message, fields = {}) => {
    const time = new Date().toISOString();
    const line =
      format === "json" ? JSON.stringify({ time, level, message, ...fields }) : `${time} ${level.padEnd(5)} ${message}`;
    write(line.replaceAll(controlCharacters, escapeCharacter));
  };
}

// A line break inside a message would turn one event into two log lines. Other control characters could take control of
// a terminal. JSON itself escapes only those up to U+001F.
const controlCharacters = /[\p{Cc}\u2028\u2029]/gu;

function escapeCharacter(character: string): string {
  return character === "\n" ? "\\n" : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** What happens again and again, such as the error that many requests fail with, is logged once in this time. */
const sameMessageMs = 10_000;

/** Leaves out a message that is the same as the last one, unless that was long ago. */
export function withoutRepeats(log: Log): Log {
  let last = { message: "", atMs: 0 };
  return (level, message) => {
    const atMs = performance.now();
    if (message === last.message && atMs - last.atMs < sameMessageMs) return;
    last = { message, atMs };
    log(level, message);
  };
}

/** Everything known about an unexpected error. It is meant for the log and must not be sent to a client. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : ` (caused by ${describeError(error.cause)})`;
  return `${error.stack ?? error.message}${cause}`;
}
