// Compares how our parser and llhttp (Node's parser) read request streams. The rule has one direction: whatever we
// accept, llhttp must accept and read the same way. llhttp may accept a request that we refuse.

import { join } from "node:path";
import { type OurMessage, ourReading } from "./our-reading.ts";
import { Random } from "./random.ts";
import { pieces, type RequestStream, requestStream } from "./request-stream.ts";

interface TheirMessage {
  readonly method: string;
  readonly target: string;
  /** The header fields. Each name is followed by its value. */
  readonly fields: readonly string[];
  readonly body: string;
  readonly isComplete: boolean;
}

/** The cases in which our contract accepts more than llhttp does, and the reasons. */
export const allowedDifferences = {
  "unknown method":
    "llhttp refuses methods that it does not know. Our contract answers them with 405 and an Allow header, so the method is any word, and llhttp reads the rest of the stream as if it were POST.",
  "ignored upgrade":
    "llhttp stops after a request with Upgrade, since the server may switch protocols. We never do, and a server may ignore the field (RFC 9110, section 7.8). So llhttp reads on after it.",
} as const;

export interface TheirReading {
  readonly messages: readonly TheirMessage[];
  readonly allowed: readonly string[];
  /** Why llhttp stopped, if it did. */
  readonly error?: string;
  readonly reason?: string;
}

/** A Node process that runs llhttp-oracle.mjs. */
export class Oracle {
  readonly #process = Bun.spawn(["node", join(import.meta.dir, "llhttp-oracle.mjs")], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  readonly #lines = linesOf(this.#process.stdout);

  /** Sends all of these streams at once. Each call of `answer` then returns the next reading, in the same order. */
  ask(texts: readonly string[]): void {
    for (const text of texts) {
      const frame = Buffer.alloc(4 + text.length);
      frame.writeUInt32BE(text.length);
      frame.write(text, 4, "latin1");
      this.#process.stdin.write(frame);
    }
    void this.#process.stdin.flush();
  }

  async answer(): Promise<TheirReading> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("Node ended before it had answered");
    return JSON.parse(value);
  }

  async stop(): Promise<void> {
    await this.#process.stdin.end();
    await this.#process.exited;
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

/** Describes the first difference. Undefined if llhttp read everything that we accepted in the same way as we did. */
function difference(ours: readonly OurMessage[], theirs: TheirReading): string | undefined {
  const { messages, allowed, error, reason } = theirs;
  const unnamed = allowed.find((name) => !Object.hasOwn(allowedDifferences, name));
  if (unnamed !== undefined) return `${unnamed} is not on the list of allowed differences`;
  for (const [index, our] of ours.entries()) {
    const their = messages[index];
    const which = `request ${index + 1}`;
    if (!their) return `we accept ${which}, and llhttp does not: ${error ?? "it waits for more"}: ${reason ?? ""}`;
    if (our.method !== their.method) return `the method of ${which}: we read ${our.method}, llhttp ${their.method}`;
    const ourTarget = JSON.stringify([our.path, our.query]);
    const theirTarget = JSON.stringify(pathAndQuery(their.target));
    if (ourTarget !== theirTarget) return `the target of ${which}: we read ${ourTarget}, llhttp ${theirTarget}`;
    const ourFields = JSON.stringify([...our.fields]);
    const theirFields = JSON.stringify([...joined(their.fields)]);
    if (ourFields !== theirFields) return `the fields of ${which}: we read ${ourFields}, llhttp ${theirFields}`;
    if (our.body === undefined) continue;
    if (!their.isComplete) return `the body of ${which} is complete to us, and not to llhttp: ${error}: ${reason}`;
    if (our.body !== their.body) {
      return `the body of ${which}: we read ${JSON.stringify(our.body)}, llhttp ${JSON.stringify(their.body)}`;
    }
  }
  return undefined;
}

/**
 * Returns the path and the query of a target. If the target has a scheme and a host, these are removed. Our parser
 * removes them too.
 */
function pathAndQuery(target: string): [path: string, query: string] {
  const scheme = /^https?:\/\//i.exec(target)?.[0] ?? "";
  let rest = target;
  if (scheme !== "") {
    const afterHost = target.slice(scheme.length).search(/[/?]/);
    rest = afterHost === -1 ? "/" : target.slice(scheme.length + afterHost);
    if (rest.startsWith("?")) rest = `/${rest}`;
  }
  const [path = "", ...query] = rest.split("?");
  return [path, query.join("?")];
}

/** The fields as our handler gets them: by lower-case name, with repeated fields joined. */
function joined(fields: readonly string[]): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index]?.toLowerCase() ?? "";
    const value = fields[index + 1] ?? "";
    const before = map.get(name);
    map.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return map;
}

export interface Finding {
  readonly stream: Pick<RequestStream, "text" | "cuts" | "readsBodies">;
  readonly difference: string;
}

/** Returns the streams in which we accept something that llhttp refuses or reads differently. */
export async function compare(
  oracle: Oracle,
  streams: readonly Finding["stream"][],
  onAccepted: (requests: number) => void = () => {},
): Promise<readonly Finding[]> {
  oracle.ask(streams.map(({ text }) => text));
  const findings: Finding[] = [];
  for (const stream of streams) {
    const ours = await ourReading(pieces(stream), stream.readsBodies);
    onAccepted(ours.length);
    const found = difference(ours, await oracle.answer());
    if (found !== undefined) findings.push({ stream, difference: found });
  }
  return findings;
}

export interface Rounds {
  readonly messages: number;
  /** How many requests have a head that we accepted. The comparison proves little if we refuse most of them. */
  readonly accepted: number;
  readonly findings: readonly Finding[];
}

const streamsAtOnce = 500;
const findingsMax = 10;

/**
 * Compares random streams. Stops when they contain at least `messagesMin` messages, or when there are at least
 * `findingsMax` findings.
 */
export async function compareRandom(oracle: Oracle, seed: number, messagesMin: number): Promise<Rounds> {
  const random = new Random(seed);
  const findings: Finding[] = [];
  let messages = 0;
  let accepted = 0;
  while (messages < messagesMin && findings.length < findingsMax) {
    const streams = Array.from({ length: streamsAtOnce }, () => requestStream(random));
    findings.push(...(await compare(oracle, streams, (requests) => (accepted += requests))).slice(0, findingsMax));
    for (const stream of streams) messages += stream.messages;
  }
  return { messages, accepted, findings };
}

/** Returns a text with everything that is needed to reproduce the finding. */
export function describeFinding({ stream, difference }: Finding): string {
  const { text, cuts, readsBodies } = stream;
  return `${difference}\n${JSON.stringify({ text, cuts, readsBodies })}`;
}
