// Asks for a password. At a terminal the input is hidden. Without a terminal, it is the first line of standard input.

import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { CommandError } from "../command-line/errors.ts";

/** `isNew`: at a terminal, the password must be typed twice. */
export async function askPassword(name: string, isNew: boolean): Promise<string> {
  const isTerminal = process.stdin.isTTY;
  // `readline` reads the keys and would echo them, so its output goes nowhere. The prompt is printed by us.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output, terminal: isTerminal });
  const ask = (prompt: string) =>
    new Promise<string>((resolve, reject) => {
      const cancel = () => reject(new CommandError("Cancelled. Nothing was changed."));
      // Without a terminal, nobody cancels: the input is over, and has no line.
      const end = isTerminal ? cancel : () => resolve("");
      lines.once("SIGINT", cancel).once("close", end).once("line", resolve);
      if (isTerminal) process.stderr.write(prompt);
    }).finally(() => isTerminal && process.stderr.write("\n"));
  try {
    const password = await ask(`Password for ${name}: `);
    if (isNew && isTerminal && password !== (await ask("Repeat the password: ")))
      throw new CommandError("The two passwords differ. Nothing was changed.");
    if (password === "" || password.includes("\ufffd"))
      throw new CommandError("The password is empty, or not valid UTF-8. Nothing was changed.");
    return password;
  } finally {
    lines.removeAllListeners("close").close();
  }
}
