// Text of the description: paragraphs, and `code` in them. The names of problems and schemas become links.

import { type ApiDocument, useDocument } from "./api-document.ts";

export function Prose({ text }: { text: string }) {
  return text.split("\n\n").map((paragraph) => (
    <p key={paragraph}>
      <Inline text={paragraph} />
    </p>
  ));
}

export function Inline({ text }: { text: string }) {
  const document = useDocument();
  return text.split("`").map((piece, index) => {
    if (index % 2 === 0) return piece;
    const target = targetOf(document, piece);
    const code = <code key={index}>{piece}</code>;
    return target === undefined ? (
      code
    ) : (
      <a key={index} href={`#${target}`}>
        {code}
      </a>
    );
  });
}

function targetOf(document: ApiDocument, name: string): string | undefined {
  if (Object.hasOwn(document["x-problems"], name)) return name;
  return Object.hasOwn(document.components.schemas, name) ? schemaAnchor(name) : undefined;
}

export function schemaAnchor(name: string): string {
  return `schema-${name}`;
}
