// Asks for a password. At a terminal the input is hidden, and a new password must be typed twice. Without a terminal,
// the password is the first line of standard input.

import { CommandError } from "./failure.ts";
import { LineReader } from "./line-reader.ts";

export async function askPassword(name: string): Promise<string> {
  const password = process.stdin.isTTY ? await askTwice(name) : await readLine(new LineReader(process.stdin));
  if (password === "") throw new CommandError("The password is empty. Nothing was changed.");
  return password;
}

/** Asks for an existing password, at a terminal. */
export function askPasswordOnce(name: string): Promise<string> {
  return withHiddenInput((ask) => ask(`Password for ${name}: `));
}

function askTwice(name: string): Promise<string> {
  return withHiddenInput(async (ask) => {
    const first = await ask(`Password for ${name}: `);
    if (first === "" || first === (await ask("Repeat the password: "))) return first;
    throw new CommandError("The two passwords differ. Nothing was changed.");
  });
}

/**
 * Hides the input while `action` asks its questions. It stays hidden between two questions, because the second answer
 * may be typed before its question appears.
 */
async function withHiddenInput<Result>(action: (ask: (prompt: string) => Promise<string>) => Promise<Result>) {
  // Hide the input before the prompt appears, because the user may start to type at once.
  process.stdin.setRawMode(true);
  const lines = new LineReader(process.stdin);
  try {
    return await action(async (prompt) => {
      process.stderr.write(prompt);
      return readLine(lines).finally(() => process.stderr.write("\n"));
    });
  } finally {
    process.stdin.setRawMode(false);
    lines.close();
  }
}

async function readLine(lines: LineReader): Promise<string> {
  const line = await lines.next();
  if (line === "not UTF-8") throw new CommandError("The password is not valid UTF-8. Nothing was changed.");
  if (line === "cancelled") throw new CommandError("Cancelled. Nothing was changed.");
  return line.text;
}
