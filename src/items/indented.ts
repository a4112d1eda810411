// JSON laid out for people to read and edit.

/** The same JSON with line breaks and indentation. Only white space is added, so numbers keep their digits. */
export function indented(json: string): string {
  let depth = 0;
  const lineBreak = () => `\n${"  ".repeat(depth)}`;
  return json.replace(/"(?:[^"\\]|\\.)*"?|\{\}|\[\]|[{}[\],:]/g, (token) => {
    if (token === "{" || token === "[") {
      depth++;
      return token + lineBreak();
    }
    if (token === "}" || token === "]") {
      depth--;
      return lineBreak() + token;
    }
    if (token === ",") return token + lineBreak();
    return token === ":" ? ": " : token;
  });
}
