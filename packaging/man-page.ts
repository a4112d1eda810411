// The manual page todoitems(1), made from the command table. `node bin/bun.js packaging/man-page.ts` prints it.

import { version } from "../package.json";
import type { Command, Flag } from "../src/commands/command-line/command.ts";
import { allCommands } from "../src/commands/command-list.ts";
import { settingFlags } from "../src/serve/settings.ts";
import { variableOf } from "../src/terminal/environment.ts";
import { asTyped } from "../src/terminal/program-name.ts";

const exitStatuses = [
  ["0", "success"],
  ["1", "failure"],
  ["2", "usage error: a wrong command, flag, argument or setting"],
  ["3", "the server or the store cannot be reached"],
  ["4", "the service is read-only: it accepted the write, and stored nothing"],
] as const;

const files = [
  ["todoitems.db", "the default store, in the current folder"],
  ["/etc/todoitems/environment", "the settings of the systemd service"],
  ["/var/lib/todoitems/", "the store of the systemd service"],
] as const;

/** `date` is shown at the foot of the page. */
export async function manPage(date: Date): Promise<string> {
  return [
    `.TH TODOITEMS 1 "${date.toISOString().slice(0, 10)}" "todoitems ${version}" "User Commands"`,
    ".SH NAME",
    "todoitems \\- a to\\-do backend for apps that speak JSON over HTTP, and its command line",
    ".SH SYNOPSIS",
    ".B todoitems",
    ".I COMMAND",
    ".RI [ flags ]",
    ".SH DESCRIPTION",
    "The service lists, creates, updates and deletes to\\-do items. It keeps them in a SQLite file or in PostgreSQL. The other commands use a service, or look after its store.",
    ".SH COMMANDS",
    ...(await allCommands()).flatMap(commandSection),
    ".SH ENVIRONMENT",
    "Every flag of \\fBserve\\fR has a variable. If both are given, the flag counts.",
    ...settingFlags.flatMap(({ name, placeholder }) => [
      ".TP",
      `.B ${escaped(variableOf(name))}`,
      escaped(`as --${name} ${placeholder}`.trimEnd()),
    ]),
    ".SH FILES",
    ...definitions(files),
    ".SH EXIT STATUS",
    ...definitions(exitStatuses),
    "",
  ].join("\n");
}

function commandSection({ name, parameters, summary, flags, notes, example }: Command): string[] {
  return [
    `.SS ${escaped(`todoitems ${name} ${parameters}`.trimEnd())}`,
    escaped(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`),
    ...flags.flatMap(flagEntry),
    ...(notes === undefined ? [] : notes.split("\n").flatMap(noteLine)),
    ...noteLine(` ${asTyped(example)}`),
  ];
}

function flagEntry({ name, short, placeholder, meaning }: Flag): string[] {
  const spelling = `${short ? `-${short}, ` : ""}--${name}`;
  return [".TP", `\\fB${escaped(spelling)}\\fR ${italic(placeholder)}`.trimEnd(), escaped(meaning)];
}

function italic(text: string): string {
  return text === "" ? "" : `\\fI${escaped(text)}\\fR`;
}

/** Turns a line of a note into roff. An indented line is an example, which must not be wrapped. */
function noteLine(line: string): string[] {
  return line.startsWith(" ") ? [".RS", ".nf", escaped(line.trimStart()), ".fi", ".RE"] : [".PP", escaped(line)];
}

function definitions(entries: readonly (readonly [term: string, meaning: string])[]): string[] {
  return entries.flatMap(([term, meaning]) => [".TP", `.B ${escaped(term)}`, escaped(meaning)]);
}

/**
 * Escapes a line of text for roff. Otherwise roff would replace hyphens, `~` and `^` with similar characters, and take
 * a line that begins with a dot or an apostrophe for a command. The result is ASCII.
 */
function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("~", "\\(ti")
    .replaceAll("^", "\\(ha")
    .replace(/^(?=[.'])/, "\\&")
    .replace(
      /[^\x20-\x7e]/gu,
      (character) => `\\[u${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}]`,
    );
}

if (import.meta.main) {
  const seconds = Number(process.env["SOURCE_DATE_EPOCH"] ?? Date.now() / 1_000);
  process.stdout.write(await manPage(new Date(seconds * 1_000)));
}
