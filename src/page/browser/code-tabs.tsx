// Code samples in several languages, one tab for each language.

import { useId, useRef } from "preact/hooks";
import { Copyable } from "./copyable.tsx";

interface CodeTabsProps {
  readonly samples: readonly {
    readonly language: string;
    readonly parts: readonly { readonly label: string; readonly code: string }[];
  }[];
  /** If there is no sample in this language, the first one is shown. */
  readonly chosen: string;
  readonly onChoose: (language: string) => void;
}

export function CodeTabs({ samples, chosen, onChoose }: CodeTabsProps) {
  const id = useId();
  const tabs = useRef<HTMLDivElement>(null);
  const index = Math.max(
    0,
    samples.findIndex(({ language }) => language === chosen),
  );
  const shown = samples[index];
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = samples.at((index + step) % samples.length);
    if (step === 0 || !next) return;
    onChoose(next.language);
    tabs.current?.querySelector<HTMLElement>(`[data-language="${next.language}"]`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label="Language" ref={tabs} onKeyDown={onKeyDown}>
        {samples.map((sample) => (
          <button
            key={sample.language}
            type="button"
            role="tab"
            class="quiet"
            id={`${id}-${sample.language}`}
            aria-selected={sample === shown}
            aria-controls={`${id}-code`}
            tabIndex={sample === shown ? 0 : -1}
            onClick={() => onChoose(sample.language)}
            data-language={sample.language}
          >
            {sample.language}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-code`} aria-labelledby={`${id}-${shown?.language}`}>
        {shown?.parts.map(({ label, code }) => (
          <Copyable key={shown.language + label} label={label} text={code} />
        ))}
      </div>
    </>
  );
}
