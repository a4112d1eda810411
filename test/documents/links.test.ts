// Checks that the documents hang together: every link leads somewhere, the indexes of docs/ and of the decisions are
// complete, every decision is named by code, and every npm script that a document names exists.

import { describe, expect, test } from "bun:test";
import { copyFileSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import manifest from "../../package.json";
import { commandNames } from "../../src/commands/command-list.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { projectFolder } from "../program.ts";
import { anchorsOf, linksOf, markdownFiles, readDocument } from "./markdown.ts";

const documents = markdownFiles();
const codeFolders = ["src", "bin", "packaging", "scripts", "test/run.ts"].concat(
  ["description", "engines", "faults", "house", "simulation"].map((folder) => `test/${folder}`),
);

describe("the documents", () => {
  test("every link between the documents leads to a file, and to a heading in it", () => {
    const dead = documents.flatMap((document) =>
      linksOf(readDocument(document))
        .filter((link) => !leadsSomewhere(document, link))
        .map((link) => `${document}: ${link}`),
    );
    expect(documents.length).toBeGreaterThan(20);
    expect(dead).toEqual([]);
  });

  test("commands are written as a clone needs them, with npx, but for a program that was installed", () => {
    const installed = ["docs/install.md", "docs/architecture.md", "docs/evidence.md", "CHANGELOG.md"];
    const command = new RegExp(`(?<!npx )(?<![\\w/])todoitems (${commandNames.join("|")})\\b[^\\n]*`, "g");
    const bare = documents
      .filter((document) => !installed.includes(document) && !document.startsWith("docs/decisions/"))
      .flatMap((document) => [...readDocument(document).matchAll(command)].map(([text]) => `${document}: ${text}`));
    expect(bare).toEqual([]);
  });

  test.skipIf(Bun.which("git") === null)("git ignores every store, backup and secret that the documents name", () => {
    const folder = temporaryFolder();
    copyFileSync(join(projectFolder, ".gitignore"), join(folder.path, ".gitignore"));
    const git = (...args: string[]) => Bun.spawnSync(["git", ...args], { cwd: folder.path }).stdout.toString();
    git("init", "--quiet");
    const made = documents.flatMap(
      (document) => readDocument(document).match(/(?<![\w/.])[\w-]+\.db(?:[.-][\w-]+)*/g) ?? [],
    );
    made.push("users.txt", "token.txt", "provider.mjs");
    const ignored = git("check-ignore", ...made).split("\n");
    folder.dispose();
    expect(made).toContain("evening.db");
    expect([...new Set(made)].filter((name) => !ignored.includes(name))).toEqual([]);
  });

  test("the index of docs/ leads to every document in that folder, and the README leads to the index", () => {
    const linked = linksOf(readDocument("docs/README.md")).map((link) => join("docs", link));
    const chapters = documents.filter((document) => dirname(document) === "docs" && document !== "docs/README.md");
    expect(chapters.filter((chapter) => !linked.includes(chapter))).toEqual([]);
    expect(linksOf(readDocument("README.md"))).toContain("docs/README.md");
  });

  test("the index of the decisions lists every record with its title, in order", () => {
    const folder = "docs/decisions";
    const records = documents.filter((document) => /^docs\/decisions\/[0-9]{4}-/.test(document)).sort();
    const lines = records.map((record) => {
      const [, title = ""] = /^# (.*)$/m.exec(readDocument(record)) ?? [];
      return `- [${title}](${record.slice(folder.length + 1)})`;
    });
    const listed = readDocument(`${folder}/README.md`).split("\n");
    expect(listed.filter((line) => line.startsWith("- "))).toEqual(lines);
  });

  test("each decision is named by the code that it explains, and the code names only decisions that exist", () => {
    const code = Bun.spawnSync(["grep", "-rhoE", "docs/decisions/[0-9]{4}-[a-z0-9-]+\\.md", ...codeFolders], {
      cwd: projectFolder,
    });
    const named = new Set(code.stdout.toString().trim().split("\n"));
    const records = documents.filter((document) => /^docs\/decisions\/[0-9]{4}-/.test(document));
    expect([...named].sort()).toEqual(records.sort());
  });

  test("the documents name only npm scripts that exist", () => {
    const named = documents.flatMap((document) =>
      [...readDocument(document).matchAll(/npm run ([a-z][\w:-]*)/g)].map(([, script = ""]) => script),
    );
    expect(named.length).toBeGreaterThan(20);
    expect([...new Set(named)].filter((script) => !Object.keys(manifest.scripts).includes(script))).toEqual([]);
  });
});

function leadsSomewhere(document: string, link: string): boolean {
  const [path = "", anchor] = decodeURI(link).split("#");
  const target = path === "" ? document : join(dirname(document), path);
  if (!existsSync(join(projectFolder, target))) return false;
  return anchor === undefined || anchorsOf(readDocument(target)).has(anchor);
}
