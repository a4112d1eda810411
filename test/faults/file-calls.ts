// The system calls of a program that change or sync the files in one folder, in order, and the words that make one of
// them fail. A first run is recorded, so that the number of a call means the same call in each later run.

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { eventually } from "../eventually.ts";

export interface Fault {
  readonly name: string;
  /** The error that a call gets. Undefined if the program is killed instead, right before the call. */
  readonly error?: "ENOSPC" | "EIO";
  /** True if all calls that follow fail as well, until the fault is lifted. */
  readonly lasts: boolean;
}

export const faults: readonly Fault[] = [
  { name: "the disk is full for one call", error: "ENOSPC", lasts: false },
  { name: "the disk is full from a call on", error: "ENOSPC", lasts: true },
  { name: "the disk fails for one call", error: "EIO", lasts: false },
  { name: "the disk fails from a call on", error: "EIO", lasts: true },
  { name: "killed before a call", lasts: false },
];

const names = [
  ...["write", "writev", "pwrite64", "pwritev", "fsync", "fdatasync", "ftruncate", "fallocate", "copy_file_range"],
  ...["sendfile", "openat", "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat", "mkdir"],
  ...["mkdirat", "chmod", "fchmod", "fchmodat", "chown", "fchown", "fchownat"],
];
/**
 * `strace` cannot tell an `openat` that makes a file from one that reads. So a fault that lasts leaves this call alone,
 * except the one with which it begins.
 */
const opening = "openat";

/** A system call that names one of the files, or the descriptor of one. */
interface FileCall {
  readonly name: string;
  /** The how-manyth call with this name it is. `strace` counts like this. */
  readonly index: number;
  /** False for a call that fails, or opens a file that exists already. */
  readonly isChange: boolean;
  /** The call with the name of its file, for messages. */
  readonly text: string;
}

export class Recording {
  readonly #calls: readonly FileCall[];
  /** The calls that change or sync a file, of the first thread that does. Call number N has the index N - 1. */
  readonly changes: readonly FileCall[];

  /** Reads the log of a program that ran after the words of `recording`, and found these files in its folder. */
  constructor(log: string, filesBefore: readonly string[]) {
    const counts = new Map<string, number>();
    const there = new Set(filesBefore);
    const calls = readFileSync(log, "utf8")
      .split("\n")
      .flatMap((line): (FileCall & { readonly thread: string })[] => {
        const [, thread = "", name] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
        if (name === undefined) return [];
        const index = (counts.get(`${thread} ${name}`) ?? 0) + 1;
        counts.set(`${thread} ${name}`, index);
        const [file = "", newName] = pathsIn(line);
        const isDone = !/ = -1 /.test(line);
        const makesFile = line.includes("O_TRUNC") || (line.includes("O_CREAT") && !there.has(file));
        const isChange = isDone && (name !== opening || makesFile);
        if (isDone && /^(?:unlink|rename)/.test(name)) there.delete(file);
        if (isDone) there.add(newName ?? (name.startsWith("unlink") ? "" : file));
        return [{ name, index, isChange, text: `${name} ${file}`, thread }];
      });
    // `strace` counts the calls of each thread for itself. A second thread begins when the first has done its work.
    const first = calls.find(({ isChange }) => isChange);
    this.#calls = calls.filter(({ thread }) => thread === first?.thread);
    this.changes = this.#calls.filter(({ isChange }) => isChange);
  }

  /** The words before a program whose call number `n` fails. `log` gets the calls that failed. */
  failing(fault: Fault, n: number, files: readonly string[], log: string): string[] {
    const call = this.changes[n - 1];
    if (!call) throw new Error(`there is no call ${n}`);
    const once = (what: string) => ["-e", `inject=${call.name}:${what}:when=${call.index}`];
    // With --seccomp-bpf, the program is slowed down less. But it would not get the signal.
    if (fault.error === undefined) return [...tracing(files, log, [call.name]), ...once("signal=SIGKILL")];
    const what = `error=${fault.error}`;
    if (!fault.lasts) return [...tracing(files, log, [call.name]), "--seccomp-bpf", ...once(what)];
    const earlier = this.#calls.slice(0, this.#calls.indexOf(call));
    const injections = names.flatMap((name) => {
      const first = earlier.filter((other) => other.name === name).length + 1;
      if (name !== opening) return ["-e", `inject=${name}:${what}:when=${first}+`];
      return call.name === opening ? once(what) : [];
    });
    // With --seccomp-bpf, all these calls would fail once strace has let go of the program.
    return [...tracing(files, log, names), ...injections];
  }
}

/** The words before a program whose calls are recorded in `log`. */
export function recording(files: readonly string[], log: string): string[] {
  return [...tracing(files, log, names), "--seccomp-bpf"];
}

// -D: strace runs as a detached grandchild, so that the process that is started and killed is the program itself.
// -I 2: strace ends when it gets a signal, and lets the program go on.
function tracing(files: readonly string[], log: string, calls: readonly string[]): string[] {
  const paths = files.flatMap((file) => ["-P", file]);
  return ["strace", "-D", "-I", "2", "-f", "-qq", "-y", "-o", log, ...paths, "-e", `trace=${calls.join()}`];
}

/** The names of the files of a call, without their folders. */
function pathsIn(line: string): string[] {
  const [args = ""] = line.replace(/AT_FDCWD<[^>]*>/g, "").split(" = ");
  return [...args.matchAll(/[<"](\/[^">]+)[">]/g)].map(([, path = ""]) => basename(path));
}

/** True once a call has failed on purpose. */
export function hasFailed(log: string): boolean {
  return readFileSync(log, "utf8").includes("(INJECTED)");
}

/** Lifts the fault from a process: strace lets go of it. */
export async function lift(pid: number): Promise<void> {
  const tracer = tracerOf(pid);
  if (tracer !== 0) process.kill(tracer, "SIGINT");
  await eventually(() => tracerOf(pid) === 0, "strace lets go of the service");
}

/** The process ID of strace. 0 if nobody traces the process, or if it has ended. */
function tracerOf(pid: number): number {
  try {
    return Number(/^TracerPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
