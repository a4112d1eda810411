// The page's icons, drawn as lines in the colour of the text, and the mark beside the title.

import type { ComponentChildren } from "preact";

function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}

export const PlusIcon = () => (
  <Icon>
    <path d="M12 5v14M5 12h14" />
  </Icon>
);

export const SearchIcon = () => (
  <Icon>
    <circle cx="11" cy="11" r="6" />
    <path d="m20 20-4.5-4.5" />
  </Icon>
);

export const TrashIcon = () => (
  <Icon>
    <path d="M5 7h14M10 7V5h4v2M7 7l1 12h8l1-12M10.5 11v5M13.5 11v5" />
  </Icon>
);

export const PlugIcon = () => (
  <Icon>
    <path d="M9 3v5M15 3v5M6.5 8h11v3a5.5 5.5 0 0 1-11 0zM12 16.5V21" />
  </Icon>
);

export const CloseIcon = () => (
  <Icon>
    <path d="m6 6 12 12M18 6 6 18" />
  </Icon>
);

export const CopyIcon = () => (
  <Icon>
    <path d="M9 9h10v11H9zM15 9V4H5v11h4" />
  </Icon>
);

export const WarningIcon = () => (
  <Icon>
    <path d="M12 4 2.8 20h18.4zM12 10v4.5M12 17.3v.2" />
  </Icon>
);

export const Mark = () => (
  <svg class="mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <rect x="2" y="2" width="20" height="20" rx="6" />
    <path d="m7.5 12.3 3.2 3.2 6-6.6" />
  </svg>
);
