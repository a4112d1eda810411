// Starts the reference at /docs: fetches the API's description and draws it.
// Why: docs/decisions/0068-the-reference-is-our-own-page.md

import { render } from "preact";
import { fetchDocument } from "./api-document.ts";
import { Reference } from "./reference.tsx";

const root = document.getElementById("reference");
if (root) {
  try {
    render(<Reference document={await fetchDocument()} />, root);
  } catch (error) {
    render(<p role="alert">The API’s description could not be loaded. Reload this page to try again.</p>, root);
    throw error;
  }
}
