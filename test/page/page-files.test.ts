// Files that the page offers: the certificate of the authority, and programs to copy.

import { afterEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { appSamples } from "../../src/page/app-samples.ts";
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
  const document = readFileSync(join(projectFolder, "docs/client.md"), "utf8");
  const codes = (address: string) =>
    appSamples(address, { form: "b", auth: "off" }).map(({ parts: [part] }) => part?.code);
  expect(document).toContain(`\`\`\`tsx\n${codes("http://localhost:5000/")[0]}\n\`\`\``);
  expect(document).toContain(`\`\`\`tsx\n${codes("http://192.168.1.20:5000/")[1]}\n\`\`\``);
  expect(JSON.stringify(appSamples("http://localhost:5000/", { form: "a", auth: "all" }))).toContain(
    '{ fetch, form: \\"a\\", credentials: { username: \\"NAME\\", password: \\"PASSWORD\\" } }',
  );
});
