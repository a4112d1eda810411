// The files beside the page are compressed once, and again only if their content has changed.

import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PageFiles } from "../../src/page/page-files.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";

const folder = temporaryFolder();
afterEach(() => folder.dispose());

test("the description and the certificate are compressed once, and the certificate again when its file changes", async () => {
  const certificate = join(folder.path, "authority.pem");
  writeFileSync(certificate, "first");
  let lookups = 0;
  const files = new PageFiles({
    settings: { readOnly: false, fieldNames: "as-sent", form: "b", auth: "off", hasAuthority: true, httpsPort: 5001 },
    authorityFile: async () => {
      lookups++;
      return certificate;
    },
  });
  const description = await files.find("/openapi.yaml");
  expect(description?.gzip?.byteLength).toBeGreaterThan(0);
  expect(await files.find("/openapi.yaml")).toBe(description);
  const authority = await files.find("/certificate-authority.crt");
  expect(await files.find("/certificate-authority.crt")).toBe(authority);
  writeFileSync(certificate, "second");
  const renewed = await files.find("/certificate-authority.crt");
  expect(new TextDecoder().decode(renewed?.plain)).toBe("second");
  expect(renewed?.etag).not.toBe(authority?.etag);
  expect(lookups).toBe(1);
});
