// Leaves the terminal as it is when the service ends. Without this, Bun restores the state that the terminal had when
// the service started. If the service was started in the background, the shell was reading a command line by then, with
// the terminal's echo off. Restoring that state would leave the user's next program without echo.

import { closeSync } from "node:fs";
import { isatty } from "node:tty";

const standardFiles = [0, 1, 2];

/** Call this at the very end, because it closes standard input, output and error if they are a terminal. */
export function leaveTerminal(): void {
  for (const file of standardFiles.filter(isatty)) closeSync(file);
}
