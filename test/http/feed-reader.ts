// Reads a change feed as a client does, event by event.

export interface FeedEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

export class FeedReader {
  readonly #chunks: Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(response: Response) {
    if (!response.body) throw new Error("the feed has no body");
    this.#chunks = response.body.getReader();
  }

  /** The next event. Heartbeats are skipped. Undefined at the end of the feed. */
  async next(): Promise<FeedEvent | undefined> {
    for (;;) {
      const block = await this.block();
      if (block === undefined) return undefined;
      const fields = new Map(block.split("\n").map((line) => cut(line)));
      if (!fields.has("data")) continue;
      return { event: fields.get("event") ?? "", id: fields.get("id"), data: fields.get("data") ?? "" };
    }
  }

  /** The next lines up to an empty line: an event or a heartbeat. Undefined at the end of the feed. */
  async block(): Promise<string | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end !== -1) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        return block;
      }
      const { done, value } = await this.#chunks.read();
      if (done) return undefined;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  async close(): Promise<void> {
    await this.#chunks.cancel();
  }
}

function cut(line: string): [string, string] {
  const colon = line.indexOf(": ");
  return [line.slice(0, colon), line.slice(colon + 2)];
}
