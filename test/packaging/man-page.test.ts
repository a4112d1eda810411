// The manual page has every command and flag, and the tools of the system accept it.

import { expect, test } from "bun:test";
import { manPage } from "../../packaging/man-page.ts";
import { allCommands } from "../../src/commands/command-list.ts";

const page = await manPage(new Date("2026-11-16"));
const groff = Bun.which("groff");

test("the manual page describes every command and every flag", async () => {
  const plain = page.replaceAll("\\-", "-");
  for (const { name, flags } of await allCommands()) {
    expect(plain).toContain(`.SS todoitems ${name}`);
    for (const flag of flags) expect(plain).toContain(`--${flag.name}\\fR`);
  }
});

test("the manual page is ASCII, and no line of text looks like a request", () => {
  expect(page).toMatch(/^[\x20-\x7e\n]*$/);
  const requests = new Set([...page.matchAll(/^\.(\S+)/gm)].map(([, request]) => request));
  expect([...requests].sort()).toEqual(["B", "I", "PP", "RE", "RI", "RS", "SH", "SS", "TH", "TP", "fi", "nf"]);
});

test.skipIf(groff === null)("groff formats the manual page without a warning", async () => {
  const formatting = Bun.spawn([groff ?? "", "-man", "-ww", "-Tutf8"], {
    stdin: new TextEncoder().encode(page),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [text, warnings] = await Promise.all([
    new Response(formatting.stdout).text(),
    new Response(formatting.stderr).text(),
  ]);
  expect(warnings).toBe("");
  expect(text).toContain("--read-only");
});
