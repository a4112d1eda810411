// How a client talks to the service, in several languages. Every sample is made here: the page shows whole programs,
// and the API's description has the code for each operation. This module runs in the browser and in the service.

import { exampleId, exampleToken } from "./examples.ts";
import { dart, kotlin, swift } from "./mobile-sample-programs.ts";
import { addresses, health, lines, type Program, type SampleOptions, type Steps } from "./sample-program.ts";
import { cSharp, javaScript, typeScript } from "./sample-programs.ts";

export interface CodeSample {
  readonly language: string;
  /** True if our tests run the code. */
  readonly isRun: boolean;
  /** What a reader copies: several commands, or one program. */
  readonly parts: readonly { readonly label: string; readonly code: string }[];
  /** The code for each operation. It is complete, so it can be run alone. */
  readonly steps: Steps;
}

/**
 * The service's address in samples, without a final slash. A relative address would be of no use in a program, so it is
 * replaced.
 */
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

/** The steps that need an existing item. */
const withItem: readonly string[] = ["read", "update", "delete"];

function sample(language: string, { before, steps, after, alone }: Program, isRun: boolean): CodeSample {
  const program = (...codes: readonly (string | undefined)[]) => lines(before, ...codes, after);
  const inProgram = Object.entries(steps).map(([step, code]) => [
    step,
    withItem.includes(step) ? program(steps.create, code) : program(code),
  ]);
  const { create, list, update, delete: remove, follow } = steps;
  return {
    language,
    isRun,
    parts: [{ label: "List, create, update, delete, follow", code: program(create, list, update, remove, "", follow) }],
    steps: { ...Object.fromEntries(inProgram), ...alone },
  };
}

function curl(options: SampleOptions): CodeSample {
  const { auth, form, names, authorityFile } = options;
  const { listUrl, feedUrl, changesUrl } = addresses(options);
  const trust = authorityFile === undefined ? "" : ` --cacert ${authorityFile}`;
  const reads = `curl${auth === "all" ? " -u NAME" : ""}${trust}`;
  const writes = `curl${auth === "off" ? "" : " -u NAME"}${trust}`;
  const json = `-H "Content-Type: application/json" -d`;
  const target = form === "a" ? `${listUrl}${exampleId}` : listUrl;
  const fields = (done: boolean) => ({ [names.name]: "Buy milk", [names.notes]: "two litres", [names.done]: done });
  const item = (done: boolean) => `'${JSON.stringify({ [names.id]: exampleId, ...fields(done) })}'`;
  const create = `${writes} -X POST ${target} ${json}`;
  const commands = {
    list: `${reads} ${listUrl}`,
    // In form B, this item has no ID, and the service makes one. So the command can be used again and again.
    create: `${create} ${form === "a" ? item(false) : `'${JSON.stringify(fields(false))}'`}`,
    read: `${reads} ${listUrl}${exampleId}`,
    update: `${writes} -X PUT ${target} ${json} ${item(true)}`,
    delete: `${writes} -X DELETE ${listUrl}${exampleId}`,
    follow: `${reads} -N ${feedUrl}`,
    changes: lines(
      `${reads} ${changesUrl}`,
      "# Next time, with the epoch and version of the answer:",
      `${reads} '${changesUrl}?since=${exampleToken(14)}'`,
    ),
    ...health(options, (url) => `curl -i${trust} ${url}`),
  };
  return {
    language: "curl",
    isRun: true,
    parts: [
      { label: "List", code: commands.list },
      // This item has the ID that the commands below use.
      { label: "Create", code: `${create} ${item(false)}` },
      { label: "Read one", code: commands.read },
      { label: "Update", code: commands.update },
      { label: "Delete", code: commands.delete },
      { label: "Follow changes", code: commands.follow },
    ],
    steps: commands,
  };
}
