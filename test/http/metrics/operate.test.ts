// Checks the files in operate/ against the metrics that the service really has.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { InstanceMetrics } from "../../../src/http/metrics/instance-metrics.ts";
import { projectFolder } from "../../program.ts";
import { parseScrape } from "./scrape.ts";

const folder = join(projectFolder, "operate");
const state = { store: "memory", itemCount: 1, listBytes: 2, waitingWrites: 0, feedReaders: 0, connections: 0 };
const text = new InstanceMetrics().text(state);
const { names } = parseScrape(text);

/** The names of metrics in a file, without the endings of a histogram's lines, such as `_bucket`. */
function metricsIn(file: string): Set<string> {
  const found = readFileSync(join(folder, file), "utf8").matchAll(/\b(?:todoitems|http_server|process)_[a-z_]+/g);
  return new Set([...found].map(([name]) => name.replace(/_(?:bucket|sum|count)$/, "")));
}

test.each(["alerts.yml", "alerts.test.yml", "grafana-dashboard.json"])("%s uses only metrics that exist", (file) => {
  const used = metricsIn(file);
  expect(used.size).toBeGreaterThan(3);
  expect([...used].filter((name) => !names.has(name))).toEqual([]);
});

test("the dashboard shows every metric but the time of the start", () => {
  const shown = metricsIn("grafana-dashboard.json");
  expect([...names].filter((name) => !shown.has(name))).toEqual(["process_start_time_seconds"]);
});

// promtool is Prometheus' own tool. On Debian, it is in the package `prometheus`.
describe.skipIf(Bun.which("promtool") === null)("promtool", () => {
  const run = (args: readonly string[], input = "") =>
    Bun.spawnSync(["promtool", ...args], { cwd: folder, stdin: Buffer.from(input) });

  test.each(["check config prometheus.yml", "check rules alerts.yml", "test rules alerts.test.yml"])(
    "promtool %s finds nothing wrong",
    (args) => {
      const { exitCode, stdout, stderr } = run(args.split(" "));
      expect([exitCode, exitCode === 0 ? "" : `${stdout}${stderr}`]).toEqual([0, ""]);
    },
  );

  test("promtool check metrics finds nothing wrong with the metrics", () => {
    const { exitCode, stdout, stderr } = run(["check", "metrics"], text);
    expect([exitCode, `${stdout}${stderr}`]).toEqual([0, ""]);
  });
});
