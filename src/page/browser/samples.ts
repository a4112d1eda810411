// The code that "Connect your app" shows. It is a file of its own, which the page loads when somebody opens the panel.

import { type CodeSample, exampleFiles, samplesOf } from "../../description/code-samples.ts";
import { appSamples } from "../app-samples.ts";
import type { PageSettings } from "../page-settings.ts";

/** `base` is the list's address, with its slash. */
export async function loadSamples(base: string, settings: PageSettings): Promise<CodeSample[]> {
  const description = await (await fetch(`${settings.root}openapi.json`)).json();
  return [...samplesOf(description, base), ...appSamples(base, settings), ...exampleFiles];
}
