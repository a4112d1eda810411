// The HTML of the page and of the reference. All addresses in the HTML are relative, because a proxy may serve these
// documents under any path.

import { apiDescriptionPath, listPath, manifestPath, type PageSettings, settingsMetaName } from "./page-settings.ts";

export type AssetPath = (name: string) => string;

/** The colours behind the page, as in page.css. */
export const themeColours = { light: "#f5f4f0", dark: "#141618" };

/** `asset` returns a path that is relative to the service's own address. */
export function pageHtml(asset: AssetPath, settings: PageSettings): string {
  const { root } = settings;
  const path = (name: string) => root + asset(name);
  return html(
    `<meta name="description" content="The to-do items of this service, live.">
<meta name="${settingsMetaName}" content="${escapeAttribute(JSON.stringify(settings))}">
<title>todoitems</title>
${icon(path)}
<link rel="apple-touch-icon" href="${path("icon-192.png")}">
<link rel="manifest" href="${root}${manifestPath}">
<link rel="stylesheet" href="${path("style.css")}">
<script type="module" src="${path("script.js")}" data-samples="${asset("samples.js")}"></script>`,
    `<div id="page"><noscript><p>This page needs JavaScript. The items are also at ${listPath}, below this address.</p></noscript></div>`,
  );
}

export function referenceHtml(path: AssetPath): string {
  return html(
    `<meta name="description" content="Every request and response of this service, to read and to try.">
<title>todoitems API</title>
${icon(path)}
<link rel="stylesheet" href="${path("style.css")}">
<link rel="stylesheet" href="${path("reference-style.css")}">
<script type="module" src="${path("reference-script.js")}"></script>`,
    `<div id="reference"><noscript><p>This page needs JavaScript. The API is also described in <a href="${apiDescriptionPath}">${apiDescriptionPath}</a>.</p></noscript></div>`,
  );
}

function icon(path: AssetPath): string {
  return `<link rel="icon" type="image/svg+xml" href="${path("icon.svg")}">`;
}

function html(head: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="${themeColours.light}">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="${themeColours.dark}">
${head}
</head>
<body>
${body}
</body>
</html>
`;
}

function escapeAttribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
