// One line below the header if something needs attention: no connection, or edits that somebody must decide about.

import type { StatusLine } from "../page-status.ts";

export function StatusLineView({ text, actions }: StatusLine) {
  return (
    <div class="status-line attention" role="status">
      <span class="status-text">{text}</span>
      {actions.map(({ label, run }) => (
        <button
          key={label}
          type="button"
          class="quiet"
          onClick={run}
          data-control={`line-${label.toLowerCase().replace(" ", "-")}`}
        >
          {label}
        </button>
      ))}
    </div>
  );
}
