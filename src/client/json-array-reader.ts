// Reads a JSON array of objects while it arrives. Yields the text of each object as soon as its closing brace is there.
// Only the unfinished object is kept, so memory use does not grow with the list.

/** If the text is not a JSON array of objects, throws a `SyntaxError` that says what is wrong. */
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
    let start = 0;
    for (;;) {
      if (this.#depth === 0) {
        const open = this.#text.indexOf("{", start);
        if (open < 0) break;
        this.#expect(this.#count === 0 ? "[" : ",", start, open);
        start = open;
        this.#at = open;
      }
      if (!this.#skipObject()) break;
      this.#count++;
      yield this.#text.slice(start, this.#at);
      start = this.#at;
    }
    this.#text = this.#text.slice(start);
    this.#at -= start;
  }

  /** Call this after the last text. It throws if the array is not complete. */
  finish(): void {
    if (this.#depth > 0) throw new SyntaxError(`it ends inside item ${this.#count + 1}`);
    this.#expect(this.#count === 0 ? "[]" : "]");
  }

  /** Checks what is before the first object, between two objects, or after the last one. */
  #expect(wanted: string, start = 0, end = this.#text.length): void {
    if (this.#text.slice(start, end).replace(/\s/g, "") === wanted) return;
    const found = this.#text.slice(start).trim().slice(0, 20);
    const place = this.#count === 0 ? "an array of objects at the beginning" : `${wanted} after item ${this.#count}`;
    throw new SyntaxError(`expected ${place}, found ${JSON.stringify(found)}`);
  }

  /** Goes to the end of the object. Returns false if the object continues. */
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
