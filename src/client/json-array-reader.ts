// Reads a JSON array of objects while it arrives. Yields the text of each object as soon as its closing brace is there.
// Only the unfinished object is kept, so memory use does not grow with the list.

/** The text is not a JSON array of objects. The message says what is wrong. */
export class NotAnArrayError extends Error {
  override readonly name = "NotAnArrayError";
}

export class JsonArrayReader {
  /** What has arrived after the last complete object. */
  #text = "";
  /** Where in it to go on. */
  #at = 0;
  #depth = 0;
  #inString = false;
  #count = 0;

  /** Takes the next text, which may be split anywhere, and yields the objects that it completes. */
  *read(text: string): Generator<string> {
    this.#text += text;
    for (let start = 0; ; ) {
      if (this.#depth === 0) {
        const open = this.#text.indexOf("{", start);
        this.#expectSeparator(this.#text.slice(start, open < 0 ? undefined : open), open >= 0);
        this.#text = this.#text.slice(open < 0 ? start : open);
        this.#at = 0;
        if (open < 0) return;
      }
      if (!this.#skipObject()) return;
      this.#count++;
      yield this.#text.slice(0, this.#at);
      start = this.#at;
    }
  }

  /** Call this after the last text. It throws if the array is not complete. */
  finish(): void {
    const end = this.#count === 0 ? /^\s*\[\s*\]\s*$/ : /^\s*\]\s*$/;
    if (this.#depth > 0 || !end.test(this.#text)) throw new NotAnArrayError(`it ends ${this.#place(this.#text)}`);
  }

  #expectSeparator(text: string, isComplete: boolean): void {
    const complete = this.#count === 0 ? /^\s*\[\s*$/ : /^\s*,\s*$/;
    if (isComplete ? complete.test(text) : /^[\s[\],]*$/.test(text)) return;
    const found = JSON.stringify(text.trim().slice(0, 20));
    const wanted = this.#count === 0 ? "an array of objects" : "a comma and an object, or the end of the array";
    throw new NotAnArrayError(
      `expected ${wanted}, found ${isComplete ? `${found} and "{"` : found} ${this.#place("")}`,
    );
  }

  #place(rest: string): string {
    const after = this.#count === 0 ? "at the beginning" : `after item ${this.#count}`;
    return rest.startsWith("{") ? `inside item ${this.#count + 1}` : after;
  }

  /** Goes to the end of the object at the beginning of the text. Returns false if the object continues. */
  #skipObject(): boolean {
    const text = this.#text;
    let [at, depth, inString] = [this.#at, this.#depth, this.#inString];
    while (at < text.length) {
      const char = text[at++];
      // The character after a backslash may not have arrived yet. It is skipped nevertheless.
      if (inString && char === "\\") at++;
      else if (char === '"') inString = !inString;
      else if (inString) continue;
      else if (char === "{" || char === "[") depth++;
      else if ((char === "}" || char === "]") && --depth === 0) break;
    }
    [this.#at, this.#depth, this.#inString] = [at, depth, inString];
    return depth === 0;
  }
}
