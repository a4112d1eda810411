/// <reference path="./text-files.d.ts" />

// The code that "Connect your app" and /docs show: samples of the API's description in curl, `fetch` and TypeScript, and
// whole programs for other platforms. This module runs in the browser, too.

import cSharp from "../../examples/csharp/RestService.cs" with { type: "text" };
import dart from "../../examples/dart/todo.dart" with { type: "text" };
import kotlin from "../../examples/kotlin/Todo.kt" with { type: "text" };
import swift from "../../examples/swift/main.swift" with { type: "text" };

export interface CodeSample {
  readonly language: string;
  /** What a reader copies: code for one operation, or a whole program. */
  readonly parts: readonly { readonly label: string; readonly code: string }[];
}

/** The part of a description that the samples are taken from. */
interface SampledDescription {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, SampledOperation>>>>;
}

interface SampledOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly "x-codeSamples": readonly { readonly label: string; readonly source: string }[];
}

/** The files of examples/ as they are. docs/evidence.md says which of them were compiled and run. */
export const exampleFiles: readonly CodeSample[] = [
  program("C#", "examples/csharp/RestService.cs", cSharp),
  program("Kotlin", "examples/kotlin/Todo.kt", kotlin),
  program("Swift", "examples/swift/main.swift", swift),
  program("Dart", "examples/dart/todo.dart", dart),
];

function program(language: string, label: string, code: string): CodeSample {
  return { language, parts: [{ label, code }] };
}

/** In this order, each sample works after the ones before it. */
const order = ["listItems", "createItem", "readItem", "updateItem", "deleteItem", "followChanges"];

/**
 * The samples of the operations on items and of the feed, in each language. `base` is the address under which the
 * reader reaches the service, with a final slash. Behind a proxy, the service does not know it.
 */
export function samplesOf(description: SampledDescription, base: string): CodeSample[] {
  const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods));
  // An instance without form B offers form A, whose operations have names that end in "At".
  const shown = order.flatMap(
    (name) => operations.find((one) => one.operationId === name || one.operationId === `${name}At`) ?? [],
  );
  const languages = shown[0]?.["x-codeSamples"].map(({ label }) => label) ?? [];
  return languages.map((language) => ({
    language,
    parts: shown.flatMap(({ summary, "x-codeSamples": samples }) =>
      samples
        .filter(({ label }) => label === language)
        .map(({ source }) => ({ label: summary, code: atBase(source, description, base) })),
    ),
  }));
}

/** The code with the address of the service as the reader knows it. */
export function atBase(
  source: string,
  { servers: [server] }: Pick<SampledDescription, "servers">,
  base: string,
): string {
  const known = server === undefined || server.url === "/" ? "http://localhost:5000" : server.url;
  return source.replaceAll(`${known}/`, base);
}
