// Files that the page offers: the certificate of the authority, and programs to copy.

import { afterEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PageFiles } from "../../src/page/page-files.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { projectFolder } from "../program.ts";

const folder = temporaryFolder();
afterEach(() => folder.dispose());

test("the certificate is the same object until its file changes", async () => {
  const certificate = join(folder.path, "authority.pem");
  writeFileSync(certificate, "first");
  let lookups = 0;
  const files = new PageFiles({
    settings: Promise.resolve({
      readOnly: false,
      fieldNames: "as-sent",
      form: "b",
      auth: "off",
      hasAuthority: true,
      httpPort: 5000,
      httpsPort: 5001,
      isOnNetwork: false,
    }),
    authorityFile: async () => {
      lookups++;
      return certificate;
    },
  });
  const authority = await files.find("/certificate-authority.crt");
  expect(await files.find("/certificate-authority.crt")).toBe(authority);
  writeFileSync(certificate, "second");
  const renewed = await files.find("/certificate-authority.crt");
  expect(new TextDecoder().decode(renewed?.bytes)).toBe("second");
  expect(lookups).toBe(1);
});

test("the programs for React and Expo are those of docs/client.md, which other tests compile", () => {
  const read = (path: string) => readFileSync(join(projectFolder, path), "utf8");
  const document = read("docs/client.md");
  for (const path of ["examples/react/TodoList.tsx", "examples/expo/App.tsx"])
    expect(document).toContain(`\`\`\`tsx\n${read(path)}\`\`\``);
});
