// Text of the description: paragraphs, and `code` in them. The names of problems and schemas become links.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ApiDocument } from "./api-document.ts";

export const DocumentContext = createContext<ApiDocument | undefined>(undefined);

export function useDocument(): ApiDocument {
  const document = useContext(DocumentContext);
  if (!document) throw new Error("the view is outside of the document");
  return document;
}

export function Prose({ text }: { text: string }) {
  return text.split("\n\n").map((paragraph) => (
    <p key={paragraph}>
      <Inline text={paragraph} />
    </p>
  ));
}

export function Inline({ text }: { text: string }) {
  return text.split("`").map((piece, index) => (index % 2 === 0 ? piece : <Name key={index} name={piece} />));
}

export function Name({ name }: { name: string }) {
  const { schemas, examples } = useDocument().components;
  const code = <code>{name}</code>;
  if (Object.hasOwn(examples, name)) return <a href={`#${name}`}>{code}</a>;
  return Object.hasOwn(schemas, name) ? <a href={`#schema-${name}`}>{code}</a> : code;
}
