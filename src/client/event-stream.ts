// Reads server-sent events as they arrive (the `text/event-stream` format of the HTML standard). The browser's
// `EventSource` is not used, because it cannot send an `Authorization` header.

export interface ServerSentEvent {
  readonly type: string;
  readonly id: string;
  readonly data: string;
}

export class EventStreamReader {
  #text = "";
  #type = "";
  #id = "";
  #data: string[] = [];

  /** The number of characters held back because their line or event is still incomplete. */
  get pendingLength(): number {
    return this.#data.reduce((sum, line) => sum + line.length, this.#text.length);
  }

  /** Takes the next text, which may be split anywhere, and yields the events that it completes. */
  *read(text: string): Generator<ServerSentEvent> {
    this.#text += text;
    for (;;) {
      // A carriage return at the end of the text may be the first half of a CRLF. So it has to wait for the next text.
      const [end] = /\r\n|\n|\r(?!$)/.exec(this.#text) ?? [];
      if (end === undefined) return;
      const at = this.#text.indexOf(end);
      const line = this.#text.slice(0, at);
      this.#text = this.#text.slice(at + end.length);
      const event = line === "" ? this.#dispatch() : this.#field(line);
      if (event) yield event;
    }
  }

  #field(line: string): undefined {
    const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "event") this.#type = value;
    else if (name === "data") this.#data.push(value);
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    // Other fields are ignored. So are comments, which only keep the connection open.
  }

  #dispatch(): ServerSentEvent | undefined {
    const event = { type: this.#type || "message", id: this.#id, data: this.#data.join("\n") };
    const isEmpty = this.#data.length === 0;
    this.#type = "";
    this.#data = [];
    return isEmpty ? undefined : event;
  }
}
