// How long an executable takes from its start to the line that says it is ready.

import { tmpdir } from "node:os";

const rounds = 9;

/** The median of several starts, in milliseconds. Undefined if the executable does not become ready on this machine. */
export async function startMs(executable: string): Promise<number | undefined> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const ms = await startOnce(executable);
    if (ms === undefined) return undefined;
    times.push(ms);
  }
  return times.sort((one, other) => one - other)[Math.floor(rounds / 2)];
}

async function startOnce(executable: string): Promise<number | undefined> {
  const startedAt = performance.now();
  const service = spawn(executable);
  if (service === undefined) return undefined;
  const { value } = await service.stdout.getReader().read();
  const ms = performance.now() - startedAt;
  service.kill("SIGTERM");
  await service.exited;
  return value && new TextDecoder().decode(value).startsWith("todoitems is ready") ? ms : undefined;
}

function spawn(executable: string) {
  try {
    const command = [executable, "serve", "--port", "0", "--store", "memory:"];
    return Bun.spawn(command, { cwd: tmpdir(), stdin: "ignore", stdout: "pipe", stderr: "ignore" });
  } catch (error) {
    // The system cannot run this executable. It does not know the format, does not permit running the file, or lacks a
    // file that is needed to load it.
    if (error instanceof Error && "code" in error && ["ENOEXEC", "ENOENT", "EACCES"].includes(String(error.code)))
      return undefined;
    throw error;
  }
}
