// Starts the page: creates the session with the service, draws the view, and reacts to the browser's events.

import { render } from "preact";
import { jsonText, TodoClient } from "../../client/index.ts";
import { Outbox } from "../outbox.ts";
import { listPath, type PageSettings, settingsMetaName } from "../page-settings.ts";
import { Session } from "../session.ts";
import { App } from "./app.tsx";

const outboxKey = "todoitems-outbox";
const restAfterMs = 20_000;

function readSettings(): PageSettings {
  const meta = document.querySelector<HTMLMetaElement>(`meta[name="${settingsMetaName}"]`);
  return JSON.parse(meta?.content ?? "{}") as PageSettings;
}

/**
 * Lets the browser keep the list in its cache and ask the service whether that copy is still current. So the service
 * sends the list again only if it has changed.
 */
function fetchConditionally(url: string, init: RequestInit): Promise<Response> {
  const isList = new Headers(init.headers).get("accept") === "application/json";
  return fetch(url, isList ? { ...init, cache: "no-cache" } : init);
}

const settings = readSettings();
const session = new Session({
  // Each tab keeps its own unsent edits.
  outbox: new Outbox({
    read: () => sessionStorage.getItem(outboxKey),
    write: (text) => sessionStorage.setItem(outboxKey, text),
  }),
  connect: (credentials) =>
    // Pass the address of the list, not of the page. The client removes /api/ from the end of an address. That would be
    // wrong if the page itself is served under a path that ends with /api/.
    new TodoClient(new URL(listPath, document.baseURI), {
      codec: jsonText,
      form: settings.form,
      retry: { limit: 0 },
      fetch: fetchConditionally,
      ...(credentials && { credentials }),
    }),
  spelling: settings.fieldNames === "as-sent" ? undefined : settings.fieldNames,
  readOnly: settings.readOnly,
});

addEventListener("online", () => session.reconnect());

// Over plain HTTP, a browser opens at most six connections to a host, and each tab's change feed holds one of them.
// With six open feeds, a seventh tab would not even load. So a tab closes its feed when it has been hidden for a while.
let resting: ReturnType<typeof setTimeout> | undefined;
let isResting = false;
addEventListener("visibilitychange", () => {
  clearTimeout(resting);
  if (document.hidden)
    resting = setTimeout(() => {
      isResting = true;
      session.rest();
    }, restAfterMs);
  else if (isResting) {
    isResting = false;
    session.reconnect();
  }
});

addEventListener("beforeunload", (event) => {
  if (session.unsentCount > 0) event.preventDefault();
});

const root = document.getElementById("page");
if (root) render(<App session={session} settings={settings} />, root);
session.start();
