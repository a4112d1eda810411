// Starts clients.ts as a process and keeps what it last reported.

import { join } from "node:path";
import { bunCommand } from "../bun-command.ts";

export type ClientKind = "idle" | "slow" | "feed";

interface Report {
  readonly open: number;
  readonly closed: number;
  readonly refused: number;
  readonly megabytes: number;
}

export class ClientProcess {
  readonly kind: ClientKind;
  readonly #process: Bun.Subprocess<"pipe", "pipe", "inherit">;
  report: Report = { open: 0, closed: 0, refused: 0, megabytes: 0 };

  constructor(kind: ClientKind, count: number, port: number) {
    this.kind = kind;
    const command = [...bunCommand, join(import.meta.dir, "clients.ts"), kind, String(count), String(port)];
    this.#process = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
    void this.#read();
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const piece of this.#process.stdout) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      const last = lines.at(-1);
      if (last !== undefined) this.report = JSON.parse(last);
    }
  }

  async stop(): Promise<void> {
    await this.#process.stdin.end();
    await this.#process.exited;
  }
}
