// Asks for a password. At a terminal the input is hidden, and a new password must be typed twice. Without a terminal,
// the password is the first line of standard input.

/** No usable password was given, or the two inputs differ. */
export class PasswordError extends Error {
  override readonly name = "PasswordError";
}

export async function askPassword(name: string): Promise<string> {
  const password = process.stdin.isTTY ? await askTwice(name) : await readLine(process.stdin);
  if (password === "") throw new PasswordError("The password is empty. Nothing was changed.");
  return password;
}

/** Asks for an existing password, at a terminal. */
export function askPasswordOnce(name: string): Promise<string> {
  return readHidden(`Password for ${name}: `);
}

async function askTwice(name: string): Promise<string> {
  const first = await readHidden(`Password for ${name}: `);
  if (first !== (await readHidden("Repeat the password: ")))
    throw new PasswordError("The two passwords differ. Nothing was changed.");
  return first;
}

async function readHidden(prompt: string): Promise<string> {
  // Hide the input first. What is typed as soon as the prompt appears must not be shown.
  process.stdin.setRawMode(true);
  process.stderr.write(prompt);
  try {
    return await readLine(process.stdin);
  } finally {
    process.stdin.setRawMode(false);
    process.stdin.pause();
    process.stderr.write("\n");
  }
}

const ctrlC = "\u0003";
const ctrlD = "\u0004";
const backspaces = ["\u007f", "\b"];

/**
 * Reads one line, without its line end. While the input is hidden, the terminal does not handle Backspace, Ctrl+C and
 * Ctrl+D, so this function does.
 */
function readLine(input: NodeJS.ReadStream): Promise<string> {
  return new Promise((resolve, reject) => {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let line: string[] = [];
    const finish = (settle: () => void) => {
      input.off("data", onData).off("end", onEnd);
      settle();
    };
    const onEnd = () => finish(() => resolve(line.join("")));
    const onData = (chunk: Uint8Array) => {
      try {
        take(chunk);
      } catch (error) {
        finish(() =>
          reject(
            error instanceof TypeError
              ? new PasswordError("The password is not valid UTF-8. Nothing was changed.")
              : error,
          ),
        );
      }
    };
    const take = (chunk: Uint8Array) => {
      for (const character of decoder.decode(chunk, { stream: true })) {
        if (character === "\r" || character === "\n") return finish(() => resolve(line.join("")));
        if (input.isTTY && character === ctrlC)
          return finish(() => reject(new PasswordError("Cancelled. Nothing was changed.")));
        if (input.isTTY && character === ctrlD) return onEnd();
        if (input.isTTY && backspaces.includes(character)) line = line.slice(0, -1);
        else line.push(character);
      }
    };
    input.on("data", onData).on("end", onEnd).resume();
  });
}
