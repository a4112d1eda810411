// Asks for a password. At a terminal the input is hidden, and a new password must be typed twice. Without a terminal,
// the password is the first line of standard input.

import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { CommandError } from "../command-line/errors.ts";

/** Asks for a new password. */
export async function askPassword(name: string): Promise<string> {
  const password = process.stdin.isTTY ? await askTwice(name) : await firstLine();
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

async function firstLine(): Promise<string> {
  let text = "";
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const bytes of Bun.stdin.stream()) {
      text += decoder.decode(bytes, { stream: true });
      if (text.includes("\n")) break;
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CommandError("The password is not valid UTF-8. Nothing was changed.");
  }
  return text.split(/\r?\n/)[0] ?? "";
}

/** `readline` reads the keys and would echo them, so its output goes nowhere. The prompt is printed by us. */
async function withHiddenInput<Result>(action: (ask: (prompt: string) => Promise<string>) => Promise<Result>) {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  const ask = (prompt: string) =>
    new Promise<string>((resolve, reject) => {
      const cancel = () => reject(new CommandError("Cancelled. Nothing was changed."));
      lines.once("SIGINT", cancel).once("close", cancel).once("line", resolve);
      process.stderr.write(prompt);
    }).finally(() => process.stderr.write("\n"));
  try {
    return await action(ask);
  } finally {
    lines.removeAllListeners("close").close();
  }
}
