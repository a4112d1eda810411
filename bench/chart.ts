// Draws bar charts and line charts as SVG, readable on light and dark pages.

export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly text: string;
  /** True if the bar shows our own service. Such a bar has a colour that stands out. */
  readonly ours: boolean;
}

const width = 760;
const labelWidth = 240;
const textWidth = 110;
const rowHeight = 30;

export function barChart(title: string, bars: readonly Bar[]): string {
  const most = Math.max(...bars.map(({ value }) => value));
  const height = 48 + bars.length * rowHeight;
  const rows = bars.map(({ label, value, text, ours }, index) => {
    const y = 44 + index * rowHeight;
    const length = Math.max(2, ((width - labelWidth - textWidth) * value) / most);
    return [
      `  <text class="label" x="${labelWidth - 10}" y="${y + 15}" text-anchor="end">${escapeXml(label)}</text>`,
      `  <rect class="${ours ? "ours" : "other"}" x="${labelWidth}" y="${y}" width="${length.toFixed(1)}" height="20" rx="3"/>`,
      `  <text class="value" x="${(labelWidth + length + 8).toFixed(1)}" y="${y + 15}">${escapeXml(text)}</text>`,
    ].join("\n");
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">
  <style>
    text { font: 14px system-ui, sans-serif; fill: #1f2933; }
    .title { font-weight: 600; font-size: 16px; }
    .ours { fill: #2563eb; }
    .other { fill: #9aa5b1; }
    @media (prefers-color-scheme: dark) { text { fill: #e4e7eb; } .ours { fill: #60a5fa; } .other { fill: #616e7c; } }
  </style>
  <text class="title" x="8" y="24">${escapeXml(title)}</text>
${rows.join("\n")}
</svg>
`;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

export interface Panel {
  readonly title: string;
  readonly series: readonly { readonly label: string; readonly values: readonly number[] }[];
}

const panelHeight = 150;
const plotLeft = 64;
const plotWidth = 520;
const pointsMax = 520;
const colours = ["#2563eb", "#d97706", "#059669", "#9333ea"];

/**
 * Draws curves over time, with the panels one below the other. If there are more values than points, each point shows
 * the largest of several values.
 */
export function lineChart(
  title: string,
  subtitle: string,
  seconds: readonly number[],
  panels: readonly Panel[],
): string {
  const height = 72 + panels.length * panelHeight + 28;
  const last = seconds.at(-1) ?? 1;
  const drawn = panels.map((panel, index) => drawPanel(panel, 72 + index * panelHeight, seconds));
  const minutes = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const x = plotLeft + part * plotWidth;
    return `  <text x="${x}" y="${height - 12}" text-anchor="middle">${((part * last) / 60).toFixed(1)} min</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">
  <style>
    text { font: 12px system-ui, sans-serif; fill: #1f2933; }
    .title { font-weight: 600; font-size: 16px; }
    .grid { stroke: #9aa5b1; stroke-opacity: 0.35; }
    polyline { fill: none; stroke-width: 1.5; }
    @media (prefers-color-scheme: dark) { text { fill: #e4e7eb; } }
  </style>
  <text class="title" x="8" y="24">${escapeXml(title)}</text>
  <text x="8" y="44">${escapeXml(subtitle)}</text>
${[...drawn, ...minutes].join("\n")}
</svg>
`;
}

function drawPanel({ title, series }: Panel, top: number, seconds: readonly number[]): string {
  const most = Math.max(1, ...series.flatMap(({ values }) => values));
  const bottom = top + panelHeight - 30;
  const last = seconds.at(-1) ?? 1;
  const step = Math.ceil(seconds.length / pointsMax);
  const lines = series.map(({ label, values }, index) => {
    const colour = colours[index % colours.length];
    const points = seconds.flatMap((second, at) => {
      if (at % step !== 0) return [];
      const value = Math.max(...values.slice(at, at + step));
      const x = plotLeft + (second / last) * plotWidth;
      return [`${x.toFixed(1)},${(bottom - (value / most) * (bottom - top - 18)).toFixed(1)}`];
    });
    const labelX = plotLeft + plotWidth + 12;
    return `  <polyline stroke="${colour}" points="${points.join(" ")}"/>
  <text x="${labelX}" y="${top + 28 + index * 18}" style="fill: ${colour}">${escapeXml(label)}</text>`;
  });
  return [
    `  <text x="8" y="${top + 8}">${escapeXml(title)}</text>`,
    `  <text x="${plotLeft - 8}" y="${top + 22}" text-anchor="end">${most.toLocaleString("en")}</text>`,
    `  <text x="${plotLeft - 8}" y="${bottom + 4}" text-anchor="end">0</text>`,
    `  <line class="grid" x1="${plotLeft}" x2="${plotLeft + plotWidth}" y1="${top + 18}" y2="${top + 18}"/>`,
    `  <line class="grid" x1="${plotLeft}" x2="${plotLeft + plotWidth}" y1="${bottom}" y2="${bottom}"/>`,
    ...lines,
  ].join("\n");
}
