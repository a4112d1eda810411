// `todoitems doctor`: says what would lose data or lock people out, with the settings that the service would start with.
// It changes nothing.
// Why: docs/decisions/0078-doctor.md

import { styleText } from "node:util";
import { StoreError } from "../collection/engine.ts";
import { UsersFileError } from "../credentials/users-file.ts";
import { isSystemError } from "../files/system-reason.ts";
import { explainUsersError } from "../serve/advice.ts";
import { CertificateError } from "../serve/certificate-files.ts";
import { readSettings } from "../serve/settings.ts";
import type { Environment } from "../terminal/environment.ts";
import { asTyped } from "../terminal/program-name.ts";
import { printable } from "../terminal/text.ts";
import { labelledRows, widthOf } from "../terminal/wrapped-text.ts";
import type { Command } from "./command-line/command.ts";
import { describeFailure } from "./command-line/failure.ts";
import { jsonFlag, printLine } from "./command-line/output.ts";
import { settingFlags } from "./command-line/setting-flags.ts";
import { type Check, checks, type Finding, fail, type Subject, type Verdict, warn } from "./doctor/checks.ts";
import { connectionVariables } from "./service/connection-flags.ts";

interface AreaFinding extends Finding {
  readonly area: string;
}

export const command: Command = {
  name: "doctor",
  parameters: "",
  summary: "say what would lose data or lock people out",
  flags: [...settingFlags, { ...jsonFlag, meaning: "print the findings as JSON" }],
  notes:
    "Give the flags and the environment of the service, and run it as the user of the service, which may be running. Exit codes: 0 nothing failed, 1 something failed.",
  example: "doctor --auth writes --users users.txt",
  async run(args, environment) {
    const serveArgs = args.filter((word) => word !== "--json");
    const findings = await examine(serveArgs, environment);
    const has = (one: Verdict) => findings.some(({ verdict }) => verdict === one);
    const worst = has("fail") ? "fail" : has("warn") ? "warn" : "pass";
    const isJson = serveArgs.length < args.length;
    await printLine(isJson ? JSON.stringify({ verdict: worst, findings }) : table(findings));
    return worst === "fail" ? 1 : 0;
  },
};

async function examine(args: readonly string[], environment: Environment): Promise<AreaFinding[]> {
  const result = readSettings(args, environment, connectionVariables);
  const settingsHint = `${asTyped("help serve")} lists the settings`;
  if ("problems" in result)
    return result.problems.map((problem) => ({ area: "Settings", ...fail(problem, settingsHint) }));
  const findings: AreaFinding[] = result.warnings.map((text) => ({ area: "Settings", ...warn(text, settingsHint) }));
  const subject = { settings: result.settings, environment, args };
  for (const [area, check] of Object.entries(checks))
    findings.push(...(await findingsOf(check, subject)).map((finding) => ({ area, ...finding })));
  return findings;
}

/** Runs one check. An error that the operator can fix becomes a finding. */
async function findingsOf(check: Check, subject: Subject): Promise<readonly Finding[]> {
  try {
    return await check(subject);
  } catch (error) {
    const hint = "the service cannot start like this";
    if (error instanceof UsersFileError) return [fail(explainUsersError(error), hint)];
    if (error instanceof CertificateError) return [fail(error.message, hint)];
    if (!(error instanceof StoreError) && !isSystemError(error)) throw error;
    return [fail(describeFailure(error).message, hint)];
  }
}

function table(findings: readonly AreaFinding[]): string {
  const colours = { pass: "green", warn: "yellow", fail: "red" } as const;
  const count = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict).length;
  const rows = labelledRows(
    findings.map(({ area, verdict, text, hint }) => [
      `${verdict}  ${area}`,
      [printable(text), ...(hint === undefined ? [] : [`→ ${printable(hint)}`])].join("\n"),
    ]),
    widthOf(process.stdout),
    (label) => label.replace(/^(?:pass|warn|fail)/, (verdict) => styleText(colours[verdict as Verdict], verdict)),
  );
  return [...rows, "", `${count("pass")} passed, ${count("warn")} to look at, ${count("fail")} failed`].join("\n");
}
