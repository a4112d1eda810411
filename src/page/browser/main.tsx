// Starts the page: creates the session with the service, draws the view, and reacts to the browser's events.

import { render } from "preact";
import { jsonText, TodoClient } from "../../client/index.ts";
import { Outbox } from "../outbox.ts";
import { listPath, type PageSettings, settingsMetaName } from "../page-settings.ts";
import { Session } from "../session.ts";
import { sharedFeed } from "../shared-feed.ts";
import { App } from "./app.tsx";
import { isTyping } from "./is-typing.ts";
import { KeptEdits } from "./kept-edits.ts";
import { ignoreStraySecondClicks } from "./second-click.ts";

function readSettings(): PageSettings {
  const meta = document.querySelector<HTMLMetaElement>(`meta[name="${settingsMetaName}"]`);
  return JSON.parse(meta?.content ?? "{}") as PageSettings;
}

/** A request that goes on after the page is closed may have a body of at most 64 KiB. This limit is a little lower. */
const lastBodyBytesMax = 60_000;

/**
 * Sends a request for the page. For JSON, such as the list, the browser asks the service whether the copy in its cache
 * is still current, so the service sends the list again only if it has changed. A write goes on after the user leaves
 * the page, unless its body is too large.
 */
function fetchForPage(url: string, init: RequestInit): Promise<Response> {
  const { method = "GET", headers, body } = init;
  if (method !== "GET") {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body).byteLength : 0;
    return fetch(url, { ...init, keepalive: bytes <= lastBodyBytesMax });
  }
  const isJson = new Headers(headers).get("accept") === "application/json";
  return fetch(url, isJson ? { ...init, cache: "no-cache" } : init);
}

const settings = readSettings();
const listUrl = new URL(listPath, document.baseURI);
/**
 * True if the tabs of this page share one change feed. They need locks for that, and browsers offer locks only to pages
 * that come over HTTPS or from this machine. If the list needs a sign-in, tabs do not share a feed either, because each
 * tab has its own sign-in.
 */
const sharesFeed = "locks" in navigator && settings.auth !== "all";
/** A tab with a feed of its own must free its connection soon after it is hidden. */
const restAfterMs = sharesFeed ? 20_000 : 2_000;
let kept = keptEdits();
const session = new Session({
  outbox: new Outbox((edits) => kept.write(edits), settings.readOnly),
  connect: (credentials) =>
    // Pass the address of the list, not of the page. The client removes /api/ from the end of an address. That would be
    // wrong if the page itself is served under a path that ends with /api/.
    new TodoClient(listUrl, {
      codec: jsonText,
      form: settings.form,
      retry: { limit: 0 },
      fetch: fetchForPage,
      ...(credentials && { credentials }),
    }),
  spelling: settings.fieldNames === "as-sent" ? undefined : settings.fieldNames,
  readOnly: settings.readOnly,
  isTyping: () => isTyping(document.activeElement),
  // The 1 is the version of the format of the messages. Tabs that were opened before an update may use another version.
  ...(sharesFeed && { feed: sharedFeed(`todoitems feed 1 ${listUrl.href}`, navigator.locks) }),
});

function keptEdits(): KeptEdits {
  return new KeptEdits({
    address: document.baseURI,
    isResting: () => isResting,
    onTaken: (edits, areSure) => session.takeOver(edits, !areSure),
  });
}

addEventListener("online", () => {
  if (!isResting) session.reconnect();
});

// A tab stops following the list when it has been hidden for a while. The browser may freeze a hidden tab, so another
// tab should read the shared feed. A feed that is not shared holds one of the few connections that the browser opens to
// a host. But a tab sends edits only while it follows the list. So it does not rest while it has edits to send, for
// example because the service is away.
let resting: ReturnType<typeof setTimeout> | undefined;
let isResting = false;
function restSoon(): void {
  resting = setTimeout(() => {
    if (session.outbox.sendableCount > 0 && !session.signIn.isPostponed) restSoon();
    else {
      isResting = true;
      session.list.rest();
    }
  }, restAfterMs);
}
function restIfHidden(): void {
  clearTimeout(resting);
  if (document.hidden) restSoon();
  else if (isResting) {
    isResting = false;
    session.reconnect();
    void kept.takeLeft();
  }
}
addEventListener("visibilitychange", restIfHidden);

// The browser asks before it closes the page, but only if something would be lost: text that is still in a field, or
// edits that the browser's database does not have.
addEventListener("beforeunload", (event) => {
  const isUnsaved = session.outbox.unsentCount > 0 && !kept.isSaved;
  if (isUnsaved || document.querySelector("[data-draft=true]")) event.preventDefault();
});

// The user leaves the page. The browser may keep the page in memory in case the user comes back. Meanwhile another tab
// may take over the edits and send them.
addEventListener("pagehide", () => {
  session.leave();
  kept.leave();
});
addEventListener("pageshow", async ({ persisted }) => {
  if (!persisted) return;
  kept = keptEdits();
  await kept.open();
  session.reconnect();
});

ignoreStraySecondClicks();
await kept.open();
const root = document.getElementById("page");
if (root) render(<App session={session} settings={settings} />, root);
session.start();
// A tab that was opened in the background is hidden from the start.
restIfHidden();
