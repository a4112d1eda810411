// Draws bar charts as SVG, readable on light and dark pages.

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
