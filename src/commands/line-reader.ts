// Reads lines from standard input, one at a time. Input that arrives after the end of a line is kept for the next line.
// While the input is hidden, the terminal does not handle Backspace, Ctrl+C and Ctrl+D, so this class does.

const ctrlC = "\u0003";
const ctrlD = "\u0004";
const backspaces = ["\u007f", "\b"];

/** A line without its line end, or why there is none. */
export type Line = { readonly text: string } | "cancelled" | "not UTF-8";

export class LineReader {
  readonly #input: NodeJS.ReadStream;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #characters: string[] = [];
  #hasEnded = false;
  #isValid = true;
  #wake = () => {};

  constructor(input: NodeJS.ReadStream) {
    this.#input = input.on("data", this.#onData).on("end", this.#onEnd).resume();
  }

  async next(): Promise<Line> {
    const typed: string[] = [];
    for (;;) {
      for (const [index, character] of this.#characters.entries()) {
        const isKey = (...keys: readonly string[]) => this.#input.isTTY && keys.includes(character);
        const isEnd = character === "\r" || character === "\n" || isKey(ctrlC, ctrlD);
        if (isEnd) this.#characters.splice(0, index + 1);
        // As in a shell, Ctrl+D on an empty line means that the user gives no answer.
        if (isKey(ctrlC) || (isKey(ctrlD) && typed.length === 0)) return "cancelled";
        if (isEnd) return { text: typed.join("") };
        if (isKey(...backspaces)) typed.pop();
        else typed.push(character);
      }
      this.#characters = [];
      if (!this.#isValid) return "not UTF-8";
      if (this.#hasEnded) return { text: typed.join("") };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** True if there is no more input. */
  get hasEnded(): boolean {
    return this.#hasEnded && this.#characters.length === 0;
  }

  close(): void {
    this.#input.off("data", this.#onData).off("end", this.#onEnd).pause();
  }

  readonly #onData = (chunk: Uint8Array) => {
    try {
      const text = this.#decoder.decode(chunk, { stream: true }).replaceAll("\r\n", "\n");
      for (const character of text) this.#characters.push(character);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      this.#isValid = false;
    }
    this.#wake();
  };

  readonly #onEnd = () => {
    this.#hasEnded = true;
    this.#wake();
  };
}
