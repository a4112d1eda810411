// Files that the page offers: the certificate of the authority, and programs to copy.

import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { appSamples } from "../../src/page/app-samples.ts";
import { PageFiles } from "../../src/page/page-files.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";

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
      tokensOnly: false,
      hasLists: false,
      hasAuthority: true,
      httpPort: 5000,
      httpsPort: 5001,
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

test("the programs for React and Expo are JavaScript, with the address and the options of the instance", () => {
  const javascript = new Bun.Transpiler({ loader: "jsx" });
  const [react, expo] = appSamples("http://a/", { form: "b", auth: "off", tokensOnly: false });
  for (const sample of [react, expo])
    expect(javascript.transformSync(sample?.parts[0]?.code ?? "")).toContain("http://a/");
  expect(JSON.stringify(appSamples("http://a/", { form: "a", auth: "all", tokensOnly: false }))).toContain(
    'new TodoClient(\\"http://a/\\", { fetch, form: \\"a\\", credentials: { username: \\"NAME\\", password: \\"PASSWORD\\" } })',
  );
  expect(JSON.stringify(appSamples("http://a/", { form: "b", auth: "all", tokensOnly: true }))).toContain(
    'new TodoClient(\\"http://a/\\", { fetch, token: () => \\"TOKEN\\" })',
  );
});
