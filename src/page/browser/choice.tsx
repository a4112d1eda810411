// Buttons of which one is chosen: what the list shows, or the language of code.

import type { ComponentChildren } from "preact";

interface ChoiceProps<Value extends string> {
  /** What is chosen here, for screen readers. */
  readonly label: string;
  readonly values: readonly Value[];
  readonly chosen: Value | undefined;
  readonly onChoose: (value: Value) => void;
  /** What a button shows. Without it, a button shows its value. */
  readonly show?: (value: Value) => ComponentChildren;
}

export function Choice<Value extends string>({ label, values, chosen, onChoose, show }: ChoiceProps<Value>) {
  return (
    <fieldset class="choice">
      <legend class="unseen">{label}</legend>
      {values.map((value) => (
        <button
          key={value}
          type="button"
          class="quiet"
          aria-pressed={value === chosen}
          onClick={() => onChoose(value)}
          data-value={value}
        >
          {show ? show(value) : value}
        </button>
      ))}
    </fieldset>
  );
}
