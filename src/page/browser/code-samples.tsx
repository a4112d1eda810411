// Code samples in several languages, of which one is shown.

import type { CodeSample } from "../../description/code-samples.ts";
import { Choice } from "./choice.tsx";
import { Copyable } from "./copyable.tsx";

interface CodeSamplesProps {
  readonly samples: readonly CodeSample[];
  /** If there is no sample in this language, the first one is shown. */
  readonly chosen: string;
  readonly onChoose: (language: string) => void;
}

export function CodeSamples({ samples, chosen, onChoose }: CodeSamplesProps) {
  const shown = samples.find(({ language }) => language === chosen) ?? samples[0];
  return (
    <div class="samples">
      <Choice
        label="Language"
        values={samples.map(({ language }) => language)}
        chosen={shown?.language}
        onChoose={onChoose}
      />
      {shown?.parts.map(({ label, code }) => (
        <Copyable key={shown.language + label} label={label} text={code} />
      ))}
    </div>
  );
}
