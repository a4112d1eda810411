// `todoitems doctor`: says what would lose data or lock people out, with the settings that the service would start with.
// It changes nothing.
// Why: docs/decisions/0078-doctor.md

import { styleText } from "node:util";
import { explainFixable } from "../serve/advice.ts";
import { readSettings, settingFlags } from "../serve/settings.ts";
import type { Environment } from "../terminal/environment.ts";
import { asTyped } from "../terminal/program-name.ts";
import { printable } from "../terminal/text.ts";
import { labelledRows, widthOf } from "../terminal/wrapped-text.ts";
import type { Command } from "./command-line/command.ts";
import { jsonFlag, printLine } from "./command-line/output.ts";
import { cannotStart, checks, type DoctorFinding, fail, warn } from "./doctor/checks.ts";
import { connectionVariables } from "./service/connection-flags.ts";

interface AreaFinding extends DoctorFinding {
  readonly area: string;
}

const verdicts = ["fail", "warn", "pass"] as const;

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
    const worst = verdicts.find((one) => findings.some(({ verdict }) => verdict === one)) ?? "pass";
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
  for (const [area, check] of Object.entries(checks))
    try {
      for await (const finding of check(result.settings, args)) findings.push({ area, ...finding });
    } catch (error) {
      const reason = explainFixable(error);
      if (reason === undefined) throw error;
      findings.push({ area, ...fail(reason, cannotStart) });
    }
  return findings;
}

function table(findings: readonly AreaFinding[]): string {
  const colours = { pass: "green", warn: "yellow", fail: "red" } as const;
  const count = (verdict: DoctorFinding["verdict"]) => findings.filter((finding) => finding.verdict === verdict).length;
  const rows = labelledRows(
    findings.map(({ area, verdict, text, hint }) => [
      `${verdict}  ${area}`,
      [printable(text), ...(hint === undefined ? [] : [`→ ${printable(hint)}`])].join("\n"),
    ]),
    widthOf(process.stdout),
    (label) =>
      verdicts.reduce((text, one) => text.replace(`${one}  `, (found) => styleText(colours[one], found)), label),
  );
  return [...rows, "", `${count("pass")} passed, ${count("warn")} to look at, ${count("fail")} failed`].join("\n");
}
