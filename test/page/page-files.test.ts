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

test("the certificate of the authority is read again, because it may have been renewed", async () => {
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
  await files.find("/certificate-authority.crt");
  writeFileSync(certificate, "second");
  const renewed = await files.find("/certificate-authority.crt");
  expect(new TextDecoder().decode(renewed?.bytes)).toBe("second");
  expect(lookups).toBe(1);
});

test("the program for Expo is that of docs/client.md, which other tests compile, and both programs are JavaScript", () => {
  const withoutTypes = readFileSync(join(projectFolder, "docs/client.md"), "utf8")
    .replaceAll(", type TodoItem", "")
    .replaceAll(": { id: string; item: TodoItem }", "");
  const code = (index: number, address: string) =>
    appSamples(address, { form: "b", auth: "off" })[index]?.parts[0]?.code;
  const javascript = new Bun.Transpiler({ loader: "jsx" });
  for (const index of [0, 1]) expect(javascript.transformSync(code(index, "http://a/") ?? "")).toContain("http://a/");
  expect(withoutTypes).toContain(`\`\`\`tsx\n${code(1, "http://192.168.1.20:5000/")}\`\`\``);
  expect(JSON.stringify(appSamples("http://a/", { form: "a", auth: "all" }))).toContain(
    'new TodoClient(\\"http://a/\\", { fetch, form: \\"a\\", credentials: { username: \\"NAME\\", password: \\"PASSWORD\\" } })',
  );
});
