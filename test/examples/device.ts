// Runs examples/python/offline.py as a process that reads commands. The name of the device is also its prompt, and the
// name of the file with its data.

import { join } from "node:path";
import { projectFolder } from "../program.ts";

export class Device {
  readonly #process;
  readonly #prompt: string;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #isReady = false;

  constructor(name: string, { folder, server }: { folder: string; server: string }) {
    const script = join(projectFolder, "examples/python/offline.py");
    this.#process = Bun.spawn(["python3", script, join(folder, `${name}.json`)], {
      env: { ...process.env, TODOITEMS_SERVER: server },
      stdin: "pipe",
      stdout: "pipe",
    });
    this.#prompt = `${name}> `;
    this.#chunks = this.#process.stdout[Symbol.asyncIterator]();
  }

  /** Sends a command, and returns what the client prints. */
  async run(command: string): Promise<string> {
    if (!this.#isReady) await this.#untilPrompt();
    this.#isReady = true;
    this.#process.stdin.write(`${command}\n`);
    await this.#process.stdin.flush();
    return this.#untilPrompt();
  }

  end(): void {
    this.#process.kill();
  }

  async #untilPrompt(): Promise<string> {
    let text = "";
    while (!text.endsWith(this.#prompt)) {
      const { done, value } = await this.#chunks.next();
      if (done) throw new Error(`the client ended: ${text}`);
      text += new TextDecoder().decode(value);
    }
    return text.slice(0, -this.#prompt.length);
  }
}
