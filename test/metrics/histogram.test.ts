import { expect, test } from "bun:test";
import { Histogram } from "../../src/metrics/histogram.ts";

test("a value at a bound is counted below it, a value above all bounds only in +Inf, and each bucket has those below it", () => {
  const histogram = new Histogram([1, 2]);
  for (const value of [0, 1, 1.5, 2, 2.1, 100]) histogram.add(value);
  const labels = { a: "b" };
  expect(histogram.values("size", labels)).toEqual([
    { metricName: "size_bucket", labels: { a: "b", le: "1" }, value: 2 },
    { metricName: "size_bucket", labels: { a: "b", le: "2" }, value: 4 },
    { metricName: "size_bucket", labels: { a: "b", le: "+Inf" }, value: 6 },
    { metricName: "size_sum", labels, value: 106.6 },
    { metricName: "size_count", labels, value: 6 },
  ]);
});
