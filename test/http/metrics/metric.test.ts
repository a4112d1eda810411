// Tests the text format of Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats/

import { expect, test } from "bun:test";
import { counter, gauge, Histogram, histogram } from "../../../src/http/metrics/metric.ts";

test("a metric has a line of help, a line with its type, and a line for its value", () => {
  expect(counter("lists_total", "Lists sent.", 3)).toBe(
    "# HELP lists_total Lists sent.\n# TYPE lists_total counter\nlists_total 3\n",
  );
  expect(gauge("build_info", "What runs.", 1, 'version="2",store="memory"')).toBe(
    '# HELP build_info What runs.\n# TYPE build_info gauge\nbuild_info{version="2",store="memory"} 1\n',
  );
});

test("a value at a bound is counted below it, a value above all bounds only in +Inf, and each bucket has those below it", () => {
  const size = new Histogram([1, 2.5]);
  for (const value of [0, 1, 1.5, 2.5, 2.6, 100]) size.add(value);
  const lines = ["# HELP size Sizes.", "# TYPE size histogram"];
  expect(histogram("size", "Sizes.", size).split("\n")).toEqual([
    ...[...lines, 'size_bucket{le="1"} 2', 'size_bucket{le="2.5"} 4', 'size_bucket{le="+Inf"} 6'],
    ...["size_sum 107.6", "size_count 6", ""],
  ]);
  expect(histogram("size", "Sizes.", new Map([['a="b"', size]])).split("\n")).toEqual([
    ...[...lines, 'size_bucket{a="b",le="1"} 2', 'size_bucket{a="b",le="2.5"} 4', 'size_bucket{a="b",le="+Inf"} 6'],
    ...['size_sum{a="b"} 107.6', 'size_count{a="b"} 6', ""],
  ]);
});
