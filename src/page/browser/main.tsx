// Starts the page: connects the offline list to the service, and draws it. Edits wait in memory while the service is
// away, so the browser asks before the user leaves with unsent edits.
// Why: docs/decisions/0082-the-page-is-a-view.md

import { render } from "preact";
import { type Credentials, jsonText, TodoClient } from "../../client/index.ts";
import { OfflineList } from "../../client/offline.ts";
import { credentialProblem } from "../credential-check.ts";
import { listPath, type PageSettings, settingsMetaName } from "../page-settings.ts";
import { Page } from "./page.tsx";

function readSettings(): PageSettings {
  const meta = document.querySelector<HTMLMetaElement>(`meta[name="${settingsMetaName}"]`);
  return JSON.parse(meta?.content ?? "{}") as PageSettings;
}

const settings = readSettings();
/** The name and the password are only here. A reload forgets them: that is how a user signs out. */
let credentials: Credentials | undefined;

function connect(credentialsNow: () => Credentials | undefined): TodoClient<string> {
  // Pass the address of the list, not of the page. The client removes /api/ from the end of an address. That would be
  // wrong if the page itself is served under a path that ends with /api/.
  return new TodoClient(new URL(listPath, document.baseURI), {
    codec: jsonText,
    form: settings.form,
    // The offline list tries again by itself, and meanwhile the page says that the service is away.
    retry: { limit: 0 },
    credentials: credentialsNow,
  });
}

const list = new OfflineList(
  connect(() => credentials),
  { name: "" },
);

/** Returns why the sign-in failed. */
async function signIn(given: Credentials): Promise<string | undefined> {
  const problem = await credentialProblem(connect(() => given));
  if (problem !== undefined) return problem;
  credentials = given;
  list.retry();
  return undefined;
}

addEventListener("beforeunload", (event) => {
  if (list.getSnapshot().pending.length > 0 || document.querySelector("[data-draft=true]")) event.preventDefault();
});

const root = document.getElementById("page");
if (root) render(<Page list={list} settings={settings} onSignIn={signIn} />, root);
