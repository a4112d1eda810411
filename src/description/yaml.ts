// Writes a JSON value as YAML that people can read. Most texts of several lines become blocks. Every other text is a
// plain word, or is written as in JSON, because JSON is valid YAML.

const plainWord = /^[A-Za-z_/][A-Za-z0-9_/.{}$-]*$/;
/** Some YAML readers do not read these words as text, so they are put in quotes. */
const reservedWord = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

export function writeYaml(value: unknown): string {
  return `${block(value, "").trimStart()}\n`;
}

function block(value: unknown, indent: string): string {
  if (typeof value === "string") return text(value, indent);
  if (Array.isArray(value)) {
    if (value.length === 0) return " []";
    return value.map((member) => `\n${indent}-${afterDash(block(member, `${indent}  `), indent)}`).join("");
  }
  if (typeof value !== "object" || value === null) return ` ${JSON.stringify(value)}`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.length === 0) return " {}";
  return members.map(([name, member]) => `\n${indent}${scalar(name)}:${block(member, `${indent}  `)}`).join("");
}

/** A mapping or sequence inside a sequence begins on the line of its dash. */
function afterDash(written: string, indent: string): string {
  const prefix = `\n${indent}  `;
  return written.startsWith(prefix) ? ` ${written.slice(prefix.length)}` : written;
}

function text(value: string, indent: string): string {
  const isBlock = value.includes("\n") && !/^\s|[^\n\x20-\x7e]| \n/.test(value);
  if (!isBlock) return ` ${scalar(value)}`;
  const ending = value.endsWith("\n\n") ? "+" : value.endsWith("\n") ? "" : "-";
  const lines = value.replace(/\n$/, "").split("\n");
  return ` |${ending}${lines.map((line) => (line === "" ? "\n" : `\n${indent}${line}`)).join("")}`;
}

function scalar(value: string): string {
  return plainWord.test(value) && !reservedWord.test(value) ? value : JSON.stringify(value);
}
