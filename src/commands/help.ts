// `todoitems help`: what can be run, and what can be set.

import { describeSettings } from "./settings.ts";

export function helpText(): string {
  const rows = describeSettings().map(({ flag, default: standard, meaning }) => {
    const suffix = standard === "" || standard === "off" ? "" : ` (${standard})`;
    return [flag, `${meaning.replaceAll("`", "")}${suffix}`] as const;
  });
  const width = Math.max(...rows.map(([flag]) => flag.length));
  return [
    "todoitems: a to-do backend for apps that speak JSON over HTTP",
    "",
    "Usage: npm start -- [flags]             serve, which is todoitems serve [flags]",
    "       npx todoitems certificate        the development certificate, and how to trust it",
    "       npx todoitems user add NAME      who may sign in; also user remove, user list",
    "",
    "Flags (defaults in parentheses):",
    ...rows.map(([flag, meaning]) => `  ${flag.padEnd(width)}  ${meaning}`),
    `  ${"--help".padEnd(width)}  show this text`,
    `  ${"--version".padEnd(width)}  show the version`,
    "",
    "Every flag has an environment variable: --read-only is TODOITEMS_READ_ONLY, and so on. Flags win.",
  ].join("\n");
}
