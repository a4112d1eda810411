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
    const rest = this.#text.trim();
    const end = this.#count === 0 && rest.startsWith("[") ? rest.slice(1).trimStart() : rest;
    if (this.#depth > 0) throw new NotAnArrayError(`it ends inside item ${this.#count + 1}`);
    if (end !== "]" || (this.#count === 0 && end === rest)) this.#refuse(rest);
  }

  /** Checks what is before an object, or the beginning of it. */
  #expectSeparator(text: string, isComplete: boolean): void {
    const found = text.trim();
    const wanted = this.#count === 0 ? "[" : ",";
    const mayFollow = found === "" || found.startsWith(wanted) || (this.#count > 0 && found === "]");
    if (isComplete ? found !== wanted : !mayFollow) this.#refuse(isComplete ? `${found}{` : found);
  }

  #refuse(found: string): never {
    const wanted = this.#count === 0 ? "an array of objects" : "a comma or a closing bracket";
    const place = this.#count === 0 ? "at the beginning" : `after item ${this.#count}`;
    const what = found === "" ? "it ends there" : `found ${JSON.stringify(found.slice(0, 20))}`;
    throw new NotAnArrayError(`expected ${wanted} ${place}, ${what}`);
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
