// How a client talks to the service, in several languages. Every sample is made here: the page shows whole programs, and
// the API's description has the code for each operation. Nothing here uses the browser's document.

import { exampleId } from "./examples.ts";
import {
  cSharp,
  dart,
  javaScript,
  kotlin,
  lines,
  type Program,
  type SampleOptions,
  type SampleStep,
  type Steps,
  steps,
  swift,
  typeScript,
} from "./sample-programs.ts";

export interface CodeSample {
  readonly language: string;
  /** True if our tests run the code. */
  readonly isRun: boolean;
  /** What a reader copies: commands, or one program. */
  readonly parts: readonly { readonly label: string; readonly code: string }[];
  /** The code for each operation. It can be run alone. */
  readonly steps: Steps;
}

/** The address in samples, without a final slash. A relative address would be of no use in a program. */
export function sampleServer(serverUrl: string): string {
  return serverUrl === "/" ? "http://localhost:5000" : serverUrl;
}

export function codeSamples(options: SampleOptions): CodeSample[] {
  return [
    curl(options),
    sample("fetch", javaScript(options), true),
    sample("TypeScript", typeScript(options), true),
    sample("C#", cSharp(options), false),
    sample("Kotlin", kotlin(options), false),
    sample("Swift", swift(options), false),
    sample("Dart", dart(options), false),
  ];
}

function sample(language: string, { before, steps: code, after }: Program, isRun: boolean): CodeSample {
  const program = (...chosen: readonly SampleStep[]) => lines(before, ...chosen.map((step) => code[step]), after);
  const withItem: readonly SampleStep[] = ["read", "update", "delete"];
  const shown = steps.filter((step) => code[step] !== undefined);
  return {
    language,
    isRun,
    parts: [{ label: "List, create, update, delete", code: program(...shown) }],
    steps: Object.fromEntries(
      shown.map((step) => [step, withItem.includes(step) ? program("create", step) : program(step)]),
    ),
  };
}

function curl({ listUrl, feedUrl, auth, form, names, authorityFile }: SampleOptions): CodeSample {
  const trust = authorityFile === undefined ? "" : ` --cacert ${authorityFile}`;
  const reads = `curl${auth === "all" ? " -u NAME" : ""}${trust}`;
  const writes = `curl${auth === "off" ? "" : " -u NAME"}${trust}`;
  const json = `-H "Content-Type: application/json" -d`;
  const target = form === "a" ? `${listUrl}${exampleId}` : listUrl;
  const item = (done: boolean) =>
    `'${JSON.stringify({ [names.id]: exampleId, [names.name]: "Buy milk", [names.notes]: "", [names.done]: done })}'`;
  const commands = {
    list: `${reads} ${listUrl}`,
    create: `${writes} -X POST ${target} ${json} ${item(false)}`,
    read: `${reads} ${listUrl}${exampleId}`,
    update: `${writes} -X PUT ${target} ${json} ${item(true)}`,
    delete: `${writes} -X DELETE ${listUrl}${exampleId}`,
    follow: `${reads} -N ${feedUrl}`,
  };
  return {
    language: "curl",
    isRun: true,
    parts: [
      { label: "List", code: commands.list },
      { label: "Create", code: commands.create },
      { label: "Read one", code: commands.read },
      { label: "Update", code: commands.update },
      { label: "Delete", code: commands.delete },
      { label: "Follow changes", code: commands.follow },
    ],
    steps: commands,
  };
}
