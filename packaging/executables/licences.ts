// The licences of everything inside the executables, as one text. Most licences require that their text is passed on
// with every copy.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type LockedPackage, lockedPackages, withDependencies } from "./locked-packages.ts";
import { projectFolder } from "./platforms.ts";

const rule = "-".repeat(80);

export function licenceText(): string {
  const packages = withDependencies(lockedPackages());
  return [
    "todoitems contains the packages below and the Bun runtime.\n",
    section("todoitems", readFileSync(join(projectFolder, "LICENSE"), "utf8")),
    ...packages.map((one) => section(`${one.name} ${one.version} (${one.license})`, licenceOf(one))),
    section(`Bun ${Bun.version} (MIT) and the libraries in it`, runtimeLicences()),
  ].join("\n");
}

function section(title: string, text: string): string {
  return `${rule}\n${title}\n${rule}\n\n${text.trim()}\n`;
}

function licenceOf({ path, license }: LockedPackage): string {
  const files = readdirSync(path).filter((name) => /^(?:licen[cs]e|copying|notice|copyrightnotice)\b/i.test(name));
  if (files.length === 0) return `The package has no licence file. Its licence is ${license}.`;
  return files.map((name) => readFileSync(join(path, name), "utf8").trim()).join("\n\n");
}

/** Bun's own page about its licences, without the metadata in its first lines. */
function runtimeLicences(): string {
  const page = readFileSync(join(projectFolder, "node_modules/bun-types/docs/project/license.mdx"), "utf8");
  return page.replace(/^---\n[\s\S]*?\n---\n/, "");
}
