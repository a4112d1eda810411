// Reads the server-sent events of a change feed as they arrive. The browser's `EventSource` is not used, because it
// cannot send an `Authorization` header. Only our service has a feed, and its fields are always one line.

export class EventStreamReader {
  #rest = "";

  /** The number of characters held back because their event is still incomplete. */
  get pendingLength(): number {
    return this.#rest.length;
  }

  /** Takes the next text, which may be split anywhere, and yields the fields of each event that it completes. */
  *read(text: string): Generator<ReadonlyMap<string, string>> {
    const events = (this.#rest + text).split("\n\n");
    this.#rest = events.pop() ?? "";
    for (const event of events) {
      const fields = event.split("\n").map((line): [string, string] => {
        const colon = line.indexOf(": ");
        return [line.slice(0, colon), line.slice(colon + 2)];
      });
      yield new Map(fields);
    }
  }
}
