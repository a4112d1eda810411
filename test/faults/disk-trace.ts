// What a service did to its store's files, and which requests it answered in between, in order. strace records every
// byte, so that simulated-disk.ts can rebuild the files as a power cut would leave them.

import { basename, dirname } from "node:path";

export type DiskEvent =
  | { readonly kind: "write"; readonly file: string; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: "truncate"; readonly file: string; readonly length: number }
  | { readonly kind: "remove"; readonly file: string }
  | { readonly kind: "rename"; readonly file: string; readonly to: string }
  | { readonly kind: "sync"; readonly file: string }
  | { readonly kind: "sync folder" }
  | { readonly kind: "answer"; readonly etags: readonly string[] };

const calls = "pwrite64,ftruncate,fsync,fdatasync,unlink,unlinkat,rename,renameat,renameat2,openat,sendto,write,writev";

/**
 * The words before a command that make strace record it. With -D, strace runs as a detached grandchild, so that signals
 * reach the command itself.
 */
export function tracing(trace: string): string[] {
  return ["strace", "-D", "-f", "--seccomp-bpf", "-y", "-xx", "-s", "2000000", "-e", `trace=${calls}`, "-o", trace];
}

/** The events in a recording: changes and syncs of the files in this folder, and answers to clients. */
export function readDiskTrace(text: string, folder: string): DiskEvent[] {
  const events: DiskEvent[] = [];
  /** Syncs that have begun, by thread. A sync counts when it has ended. Everything else counts when it begins. */
  const begun = new Map<string, DiskEvent>();
  for (const line of text.split("\n")) {
    const [, thread = "", resumed, call = ""] = /^(\d+) +(<\.\.\. )?(\w+)/.exec(line) ?? [];
    if (resumed !== undefined) {
      const sync = begun.get(thread);
      if (sync && line.endsWith("= 0")) events.push(sync);
      begun.delete(thread);
      continue;
    }
    const event = readCall(call, line, folder);
    if (!event) continue;
    if (!/^f(data)?sync$/.test(call)) events.push(event);
    else if (line.endsWith("<unfinished ...>")) begun.set(thread, event);
    else if (line.endsWith("= 0")) events.push(event);
  }
  return events;
}

function readCall(call: string, line: string, folder: string): DiskEvent | undefined {
  if (call.startsWith("rename")) {
    const [from = "", to = ""] = [...line.matchAll(/"([^"]*)"/g)].map(([, path = ""]) => unhex(path).toString());
    return dirname(to) === folder ? { kind: "rename", file: basename(from), to: basename(to) } : undefined;
  }
  if (call === "openat") {
    const path = unhex(/"([^"]*)"/.exec(line)?.[1] ?? "").toString();
    const empties = line.includes("O_TRUNC") && dirname(path) === folder;
    return empties ? { kind: "truncate", file: basename(path), length: 0 } : undefined;
  }
  // A small file is written with `write`, from its beginning.
  if (call === "write" && isIn(folder, line)) return { kind: "write", file: fileOf(line), at: 0, bytes: bytesOf(line) };
  if (/^(sendto|write|writev)$/.test(call)) return readAnswer(line);
  if (call.startsWith("unlink")) {
    const path = unhex(/"([^"]*)"/.exec(line)?.[1] ?? "").toString();
    return dirname(path) === folder ? { kind: "remove", file: basename(path) } : undefined;
  }
  const path = descriptorPath(line);
  if (path === folder) return { kind: "sync folder" };
  if (dirname(path) !== folder) return undefined;
  const file = basename(path);
  if (call === "ftruncate") return { kind: "truncate", file, length: Number(/>, (\d+)/.exec(line)?.[1]) };
  if (call !== "pwrite64") return { kind: "sync", file };
  const end = line.lastIndexOf('"');
  const at = Number(/^", \d+, (\d+)/.exec(line.slice(end, end + 60))?.[1]);
  return { kind: "write", file, at, bytes: bytesOf(line) };
}

function descriptorPath(line: string): string {
  return unhex(/\(\d+<([^>]*)>/.exec(line)?.[1] ?? "").toString();
}

function isIn(folder: string, line: string): boolean {
  return dirname(descriptorPath(line)) === folder;
}

function fileOf(line: string): string {
  return basename(descriptorPath(line));
}

function bytesOf(line: string): Buffer {
  return unhex(line.slice(line.indexOf('"') + 1, line.lastIndexOf('"')));
}

/**
 * The ETags of the answers that one system call sends. One call can send several answers. Undefined unless the first
 * answer is a success.
 */
function readAnswer(line: string): DiskEvent | undefined {
  const hex = line.slice(line.indexOf('"') + 1, line.lastIndexOf('"'));
  const text = unhex(hex).toString("latin1");
  if (!text.startsWith("HTTP/1.1 20")) return undefined;
  return { kind: "answer", etags: [...text.matchAll(/^ETag: (\S+)/gm)].map(([, etag = ""]) => etag) };
}

function unhex(text: string): Buffer {
  return Buffer.from(text.replaceAll("\\x", ""), "hex");
}
