// Starts a Prism proxy in front of a service. The proxy compares every request and every answer with a description. It
// lists its complaints in the header sl-violations.

import { tool, toolsFolder } from "./tool.ts";

export interface Prism {
  readonly origin: string;
  stop(): Promise<void>;
}

/** One complaint. `location` begins with "request" or "response". */
export interface Violation {
  readonly location: readonly string[];
  readonly message: string;
}

/** `description` is the path of a file, relative to this folder. */
export async function startPrism(description: string, upstream: string): Promise<Prism> {
  const port = freePort();
  const args = ["proxy", description, upstream, "--port", String(port), "--no-cors"];
  const command = tool("@stoplight/prism-cli/dist/index.js", ...args);
  const proxy = Bun.spawn([...command], { cwd: toolsFolder, stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  await untilListening(proxy.stdout);
  return {
    origin: `http://127.0.0.1:${port}`,
    async stop() {
      proxy.kill();
      await proxy.exited;
    },
  };
}

export function violationsIn(headers: Headers): readonly Violation[] {
  return JSON.parse(headers.get("sl-violations") ?? "[]") as Violation[];
}

function freePort(): number {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = server;
  server.stop(true);
  return port;
}

/**
 * Resolves once the proxy listens. Goes on reading the proxy's log after that, so that the proxy never has to wait for
 * us.
 */
async function untilListening(output: ReadableStream<Uint8Array>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const read = async () => {
    let log = "";
    for await (const chunk of output) {
      log = (log + new TextDecoder().decode(chunk)).slice(-10_000);
      if (log.includes("Prism is listening")) resolve();
    }
    reject(new Error(`Prism ended:\n${log}`));
  };
  void read();
  return promise;
}
