// Starts the page: draws the list of whoever uses this tab. If nothing keeps the unsent edits, the browser asks before the
// user leaves.

import { render } from "preact";
import { ItemActions } from "../item-actions.ts";
import { type PageSettings, settingsMetaName } from "../page-settings.ts";
import { listTitle } from "./addresses.ts";
import { Page } from "./page.tsx";
import { registerWorker } from "./register-worker.ts";
import { hasDraft, Session } from "./session.ts";

function readSettings(): PageSettings {
  const meta = document.querySelector<HTMLMetaElement>(`meta[name="${settingsMetaName}"]`);
  const settings = JSON.parse(meta?.content ?? "{}") as PageSettings;
  return { ...settings, root: new URL(settings.root || "./", document.baseURI).href };
}

const settings = readSettings();
const session = new Session(settings, draw);
const root = document.getElementById("page");

function draw(): void {
  const { address, username } = session;
  document.title = address.name === "" ? listTitle("") : `${address.name} – ${listTitle("")}`;
  // With the key, nothing that was opened, typed or searched for is there for the next person, or in another list.
  const key = JSON.stringify([username, address.name]);
  if (root) render(<Page key={key} session={session} />, root);
}

addEventListener("beforeunload", (event) => {
  if (!session.isSafe || ItemActions.running > 0 || hasDraft()) event.preventDefault();
});

// Relative addresses would change when another list is shown.
for (const link of document.querySelectorAll<HTMLLinkElement>("link:not([rel=stylesheet])"))
  link.setAttribute("href", link.href);
addEventListener("popstate", () => session.followHistory());
void session.start();
registerWorker(settings.root).catch(console.warn);
