// Adds code samples to the operations, as `x-codeSamples`.

import { codeSamples, sampleServer } from "./code-samples.ts";
import type { DescribedInstance } from "./described-instance.ts";
import type { Operation, PathItem } from "./document.ts";
import { spelled } from "./examples.ts";
import type { SampleStep } from "./sample-program.ts";

const sampled: Readonly<Record<string, readonly [step: SampleStep, form: "a" | "b"]>> = {
  listItems: ["list", "b"],
  readItem: ["read", "b"],
  createItem: ["create", "b"],
  createItemAt: ["create", "a"],
  updateItem: ["update", "b"],
  updateItemAt: ["update", "a"],
  deleteItem: ["delete", "b"],
  followChanges: ["follow", "b"],
  readChanges: ["changes", "b"],
  isLive: ["live", "b"],
  isReady: ["ready", "b"],
};

/** The names by which tools recognise languages, if they differ from ours. */
const languages: Readonly<Record<string, string>> = { curl: "Shell", fetch: "JavaScript" };

export function withSamples(
  paths: Readonly<Record<string, PathItem>>,
  instance: DescribedInstance,
  serverUrl: string,
): Record<string, PathItem> {
  return Object.fromEntries(
    Object.entries(paths).map(([path, pathItem]) => [
      path,
      Object.fromEntries(
        Object.entries(pathItem).map(([method, operation]) => [method, withSample(operation, instance, serverUrl)]),
      ),
    ]),
  );
}

function withSample(operation: Operation, instance: DescribedInstance, serverUrl: string): Operation {
  const { auth, forms, fieldNames, hasAuthority } = instance;
  const [step, form] = sampled[operation.operationId] ?? [];
  if (step === undefined || form === undefined) return operation;
  const server = sampleServer(serverUrl);
  const name = (field: string) => spelled(field, fieldNames);
  const samples = codeSamples({
    server,
    auth,
    // Some samples create an item first. They must do so in a form that the instance offers.
    form: forms === "both" ? form : forms,
    names: { id: name("ID"), name: name("Name"), notes: name("Notes"), done: name("Done") },
    // The name under which the service offers this file for download.
    authorityFile: hasAuthority && server.startsWith("https:") ? "certificate-authority.crt" : undefined,
  });
  return {
    ...operation,
    "x-codeSamples": samples.flatMap(({ language, isRun, steps: { [step]: source } }) =>
      source === undefined
        ? []
        : [{ lang: languages[language] ?? language, label: isRun ? language : `${language} (not tested)`, source }],
    ),
  };
}
