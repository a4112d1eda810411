// JSON kept as text. A document is checked, stripped of insignificant white space and indexed at its top level, but
// never rebuilt from parsed values: `1.0`, `1e400`, 20-digit integers, escapes, field order and even repeated names
// come out exactly as they went in.
// Why: docs/decisions/0006-json-stays-text.md

import { ItemError } from "./item-error.ts";
import { type Member, ObjectText } from "./object-text.ts";

/** The limit for nesting if the caller gives none. It is far below the depth that would overflow the stack. */
const depthMaxDefault = 1_000;

/**
 * Checks one JSON object and indexes its members. Throws an `ItemError` for any other text, and for an object that is
 * nested too deeply.
 */
export function scanObject(source: string, depthMax = depthMaxDefault): ObjectText {
  const scanner = new Scanner(source, depthMax);
  const members: Member[] = [];
  scanner.skipSpace();
  if (scanner.peek() !== OPEN_BRACE) scanner.failUnlessJson('A TodoItem is a JSON object, such as {"Name":"Buy milk"}');
  scanner.object(members);
  return new ObjectText(scanner.finish(), members);
}

/**
 * Checks one JSON array and returns the compact text of each element. Throws an `ItemError` for any other text, and for
 * an array that is nested too deeply.
 */
export function scanArray(source: string, depthMax = depthMaxDefault): string[] {
  const scanner = new Scanner(source, depthMax);
  const elements: Span[] = [];
  scanner.skipSpace();
  if (scanner.peek() !== OPEN_BRACKET)
    scanner.failUnlessJson('A list of items is a JSON array, such as [{"Name":"Buy milk"}]');
  scanner.array(elements);
  const text = scanner.finish();
  return elements.map((element) => text.slice(element.start, element.end));
}

/** Like `scanObject`, but returns undefined instead of throwing an `ItemError`. */
export function scanIfObject(source: string, depthMax = depthMaxDefault): ObjectText | undefined {
  try {
    return scanObject(source, depthMax);
  } catch (error) {
    if (error instanceof ItemError) return undefined;
    throw error;
  }
}

interface Span {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const literalPattern = /true|false|null/y;
const escapePattern = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
// Matches a run of plain characters. The runtime compiles the pattern to machine code, which is several times faster
// than a loop.
// biome-ignore lint/suspicious/noControlCharactersInRegex: a run ends at a control character.
const runPattern = /[^"\\\u0000-\u001f]*/y;

class Scanner {
  readonly #source: string;
  readonly #depthMax: number;
  #at = 0;
  #depth = 0;
  // The source before #keptFrom is already in #compact, without its insignificant white space. Most documents have no
  // such white space. For these #compact stays empty, and the source itself is returned.
  #compact = "";
  #keptFrom = 0;

  constructor(source: string, depthMax: number) {
    this.#source = source;
    this.#depthMax = depthMax;
  }

  /** The code of the next character. At the end it is NaN, which equals no code. */
  peek(): number {
    return this.#source.charCodeAt(this.#at);
  }

  skipSpace(): void {
    const start = this.#at;
    while (isSpace(this.peek())) this.#at++;
    if (this.#at === start) return;
    this.#compact += this.#source.slice(this.#keptFrom, start);
    this.#keptFrom = this.#at;
  }

  finish(): string {
    this.skipSpace();
    if (this.#at < this.#source.length) this.#fail("the end of the document");
    return this.#compact + this.#source.slice(this.#keptFrom);
  }

  object(members?: Member[]): void {
    this.#enter();
    if (this.peek() !== CLOSE_BRACE) {
      do {
        this.skipSpace();
        const nameStart = this.#offset();
        if (this.peek() !== QUOTE) this.#fail("a field name in double quotes");
        this.#string();
        const nameEnd = this.#offset();
        this.skipSpace();
        this.#expect(COLON, "a colon");
        this.skipSpace();
        const valueStart = this.#offset();
        this.#value();
        members?.push({ nameStart, nameEnd, valueStart, valueEnd: this.#offset() });
        this.skipSpace();
      } while (this.#skipComma());
    }
    this.#expect(CLOSE_BRACE, "a comma or a closing brace");
    this.#depth--;
  }

  array(elements?: Span[]): void {
    this.#enter();
    if (this.peek() !== CLOSE_BRACKET) {
      do {
        this.skipSpace();
        const start = this.#offset();
        this.#value();
        elements?.push({ start, end: this.#offset() });
        this.skipSpace();
      } while (this.#skipComma());
    }
    this.#expect(CLOSE_BRACKET, "a comma or a closing bracket");
    this.#depth--;
  }

  /** Refuses a document of the wrong kind. If it is not even valid JSON, the error names its first mistake instead. */
  failUnlessJson(wrongKind: string): never {
    this.#value();
    this.finish();
    throw new ItemError("InvalidJson", `${wrongKind}; the document is valid JSON of another kind.`);
  }

  #value(): void {
    const code = this.peek();
    if (code === QUOTE) this.#string();
    else if (code === OPEN_BRACE) this.object();
    else if (code === OPEN_BRACKET) this.array();
    else if (!this.#match(numberPattern) && !this.#match(literalPattern)) this.#fail("a JSON value");
  }

  #string(): void {
    this.#at++;
    for (;;) {
      this.#match(runPattern);
      const code = this.peek();
      if (code === QUOTE) break;
      if (code !== BACKSLASH) {
        this.#fail(Number.isNaN(code) ? "a closing quote" : "an escape such as \\n instead of a raw control character");
      }
      if (!this.#match(escapePattern)) this.#fail("a valid escape");
    }
    this.#at++;
  }

  /** Steps over an opening brace or bracket and the white space after it. Throws if the nesting becomes too deep. */
  #enter(): void {
    this.#depth++;
    if (this.#depth > this.#depthMax) {
      throw new ItemError(
        "NestingTooDeep",
        `The document nests objects and arrays deeper than ${this.#depthMax} levels, the limit of this instance.`,
      );
    }
    this.#at++;
    this.skipSpace();
  }

  #skipComma(): boolean {
    if (this.peek() !== COMMA) return false;
    this.#at++;
    return true;
  }

  #expect(code: number, what: string): void {
    if (this.peek() !== code) this.#fail(what);
    this.#at++;
  }

  #match(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#source)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  /** The scanner's position in the compact text. */
  #offset(): number {
    return this.#compact.length + this.#at - this.#keptFrom;
  }

  #fail(expected: string): never {
    const before = this.#source.slice(0, this.#at).split("\n");
    const where = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    const found =
      this.#at < this.#source.length
        ? JSON.stringify(String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0))
        : "the end";
    throw new ItemError(
      "InvalidJson",
      `The document is not valid JSON: expected ${expected} at ${where}, found ${found}.`,
    );
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
