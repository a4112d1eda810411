// The file with the authority's certificate stays the same object until its content changes. So it is compressed only
// once.

import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PageFiles } from "../../src/page/page-files.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";

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
