// Finds every regular expression in a TypeScript source: literals, and calls of `new RegExp`.

export interface FoundExpression {
  /** The expression as it is written: `/pattern/flags`, or the line from `new RegExp(` to its end. */
  readonly text: string;
  readonly line: number;
}

/** A slash after one of these begins a regular expression. After a value, a slash divides. */
const beforeExpression = /(?:^|[=(,:?!&|{;[>+*%~^-]|\b(?:return|typeof|case|in|of|delete|void|throw|new|do|else))$/;
const literal = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const skipped = /#![^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y;

export function regularExpressionsOf(source: string): FoundExpression[] {
  const found: FoundExpression[] = [];
  const lineAt = (offset: number) => source.slice(0, offset).split("\n").length;
  /** For each `${…}` of a template that has not ended yet: how many braces are open inside it. */
  const templates: number[] = [];
  let code = "";
  let at = 0;
  const skipTemplate = () => {
    while (at < source.length && source[at] !== "`" && !source.startsWith("${", at)) at += source[at] === "\\" ? 2 : 1;
    if (source[at] === "`") at++;
    else {
      at += 2;
      templates.push(0);
    }
    code = "`";
  };
  while (at < source.length) {
    const rest = matchAt(skipped, source, at);
    const character = source[at] ?? "";
    if (rest !== undefined) {
      if (!rest.startsWith("/")) code = '"';
      at += rest.length;
    } else if (character === "/" && beforeExpression.test(code.trimEnd())) {
      const text = matchAt(literal, source, at) ?? character;
      // A match that begins with `/<` or `/>` is not a regular expression, but the end of a JSX element.
      if (text.length > 1 && !/^\/[<>]/.test(text)) found.push({ text, line: lineAt(at) });
      at += text.length;
      code = '"';
    } else if (character === "`") {
      at++;
      skipTemplate();
    } else if (character === "}" && templates.at(-1) === 0) {
      templates.pop();
      at++;
      skipTemplate();
    } else {
      const depth = templates.length - 1;
      if (depth >= 0 && character === "{") templates[depth] = (templates[depth] ?? 0) + 1;
      if (depth >= 0 && character === "}") templates[depth] = (templates[depth] ?? 0) - 1;
      code = (code + character).slice(-20);
      at++;
    }
  }
  for (const { index, 0: text } of source.matchAll(/new RegExp\([^\n]*/g)) found.push({ text, line: lineAt(index) });
  return found;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
