// `todoitems certificate`: shows the development certificate authority of this machine.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { authorityWasReplaced, openDevelopmentCertificate } from "../serve/certificate-files.ts";
import { labelledRows, widthOf } from "../terminal/wrapped-text.ts";
import { defineCommand } from "./command-line/command.ts";
import { printLine, remark } from "./command-line/output.ts";

export const command = defineCommand(
  {
    name: "certificate",
    parameters: "",
    summary: "show the development certificate authority, and create it if it is missing",
    flags: [],
    example: "certificate",
  },
  async (_args, environment) => {
    const opened = await openDevelopmentCertificate(environment);
    if (opened.replacedAuthority) remark(`${authorityWasReplaced()}.`);
    const { subject, validTo, fingerprint256 } = new X509Certificate(readFileSync(opened.authorityCert));
    const rows = Object.entries({
      File: opened.authorityCert,
      Name: subject,
      "Valid until": validTo,
      "SHA-256": fingerprint256,
      "Vouches for": opened.names.join(", "),
    });
    await printLine(labelledRows(rows, widthOf(process.stdout)).join("\n"));
  },
);
