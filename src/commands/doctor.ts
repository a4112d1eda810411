// `todoitems doctor`: examines everything that the service needs, with the settings that the service would start with.
// It says what is wrong and what to do, and changes nothing.

import { StoreError } from "../collection/engine.ts";
import { UsersFileError } from "../credentials/users-file.ts";
import { isSystemError } from "../files/system-reason.ts";
import { CertificateError } from "../serve/certificate-files.ts";
import { readSettings } from "../serve/settings.ts";
import { explainUsersError } from "../serve/users-advice.ts";
import type { Environment } from "../terminal/environment.ts";
import { parseFlags } from "../terminal/flags.ts";
import { asTyped } from "../terminal/program-name.ts";
import { printable, type Style, styleOf } from "../terminal/text.ts";
import { labelledRows, widthOf } from "../terminal/wrapped-text.ts";
import { type Command, UsageError } from "./command.ts";
import { connectionVariables } from "./connection-flags.ts";
import { checkCertificate } from "./doctor/certificate-check.ts";
import { checkClock } from "./doctor/clock-check.ts";
import { checkDisk } from "./doctor/disk-check.ts";
import { type Finding, fail, type Subject, type Verdict, warn } from "./doctor/finding.ts";
import { checkPorts } from "./doctor/port-check.ts";
import { checkPostgresServers } from "./doctor/postgres-check.ts";
import { checkProxy } from "./doctor/proxy-check.ts";
import { checkSecrets } from "./doctor/secrets-check.ts";
import { checkSettings } from "./doctor/settings-check.ts";
import { checkTheStore } from "./doctor/store-check.ts";
import { checkUsers } from "./doctor/users-check.ts";
import { describeFailure } from "./failure.ts";
import { jsonFlag, printLine } from "./output.ts";
import { completeUrl, isOnThisMachine, takeAddress } from "./server-address.ts";
import { settingFlags } from "./setting-flags.ts";

type Check = (subject: Subject) => readonly Finding[] | Promise<readonly Finding[]>;

const checks: readonly (readonly [area: string, check: Check])[] = [
  ["Settings", checkSettings],
  ["Store", checkTheStore],
  ["Users", checkUsers],
  ["Secrets", checkSecrets],
  ["Disk", checkDisk],
  ["Clock", checkClock],
  ["Certificate", checkCertificate],
  ["Port", checkPorts],
  ["PostgreSQL", checkPostgresServers],
  ["Proxy", checkProxy],
];

interface AreaFinding extends Finding {
  readonly area: string;
}

const flags = [...settingFlags, { ...jsonFlag, meaning: "print the findings as JSON" }];

export const doctor: Command = {
  name: "doctor",
  parameters: "[URL]",
  summary: "examine the settings, the store and everything around them",
  flags,
  notes:
    "Give the flags and the environment of the service, and run it as the user of the service, which may be running: doctor --port 5100 examines the service on port 5100. URL is the address that clients use, if a proxy is between. Exit codes: 0 nothing failed, 1 something failed.",
  async run(args, environment) {
    refuseServer(args);
    const findings = await examine(args, environment);
    if (args.includes("--json")) await printLine(JSON.stringify({ verdict: worst(findings), findings }));
    else await printLine(report(findings, styleOf(process.stdout, environment)));
    return worst(findings) === "fail" ? 1 : 0;
  },
};

/** People try --server, because other commands have it. Refuses the flag, and says what to give instead. */
function refuseServer(args: readonly string[]): void {
  const server = { name: "server", short: "s", placeholder: "URL" };
  const [given] = parseFlags([...flags, server], args).values.get(server.name) ?? [];
  if (given === undefined) return;
  const url = completeUrl(given);
  const port = (url && isOnThisMachine(url) && url.port) || "5100";
  const address = url && isOnThisMachine(url) ? "https://todo.example/" : given;
  throw new UsageError(
    `--server: there is no such flag; doctor needs the flags that the service has, such as --port ${port}. If a proxy is in front of the service, give the address alone, as in doctor ${address}`,
  );
}

async function examine(args: readonly string[], environment: Environment): Promise<AreaFinding[]> {
  const { url, rest } = takeAddress(flags, args);
  const serveArgs = rest.filter((word) => word !== "--json");
  const result = readSettings(serveArgs, environment, connectionVariables);
  if ("problems" in result)
    return result.problems.map((problem) => ({
      area: "Settings",
      ...fail(problem, `${asTyped("help serve")} lists the settings; the other checks need valid ones`),
    }));
  const subject = {
    settings: result.settings,
    environment,
    args: serveArgs,
    publicUrl: url,
  };
  const findings: AreaFinding[] = result.warnings.map((text) => ({
    area: "Settings",
    ...warn(text, `${asTyped("help serve")} lists the settings`),
  }));
  for (const [area, check] of checks)
    findings.push(...(await findingsOf(check, subject)).map((finding) => ({ area, ...finding })));
  return findings;
}

/**
 * Runs one check. An error that the operator can fix becomes a finding. Any other error is a defect of the program, and
 * is thrown.
 */
async function findingsOf(check: Check, subject: Subject): Promise<readonly Finding[]> {
  try {
    return await check(subject);
  } catch (error) {
    if (error instanceof UsersFileError) return [fail(explainUsersError(error), "the service cannot start like this")];
    const isExpected = [StoreError, CertificateError].some((kind) => error instanceof kind);
    if (!isExpected && !isSystemError(error)) throw error;
    const text = error instanceof Error && isExpected ? error.message : describeFailure(error).message;
    return [fail(text, "the service cannot start like this")];
  }
}

function worst(findings: readonly Finding[]): Verdict {
  const has = (verdict: Verdict) => findings.some((finding) => finding.verdict === verdict);
  if (has("fail")) return "fail";
  return has("warn") ? "warn" : "pass";
}

function report(findings: readonly AreaFinding[], style: Style): string {
  const paint = { pass: style.green, warn: style.yellow, fail: style.red };
  const count = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict).length;
  const rows = labelledRows(
    findings.map(({ area, verdict, text, hint }) => [
      `${verdict}  ${area}`,
      [printable(text), ...(hint === undefined ? [] : [`→ ${printable(hint)}`])].join("\n"),
    ]),
    widthOf(process.stdout),
    (label) => {
      const verdict = (["pass", "warn", "fail"] as const).find((one) => label.startsWith(one)) ?? "fail";
      return paint[verdict](verdict) + label.slice(verdict.length);
    },
  );
  return [...rows, "", `${count("pass")} passed, ${count("warn")} to look at, ${count("fail")} failed`].join("\n");
}
