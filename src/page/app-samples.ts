// Whole programs for React and Expo that work offline, for "Connect your app": the files of examples/, with the address
// of this service and what it needs.

import expo from "../../examples/expo/App.jsx" with { type: "text" };
import react from "../../examples/react/TodoList.jsx" with { type: "text" };
import type { CodeSample } from "../description/code-samples.ts";
import type { PageSettings } from "./page-settings.ts";

/** `address` ends with a slash. */
export function appSamples(
  address: string,
  settings: Pick<PageSettings, "form" | "auth" | "tokensOnly">,
): CodeSample[] {
  const { form, auth, tokensOnly } = settings;
  const signIn = tokensOnly ? 'token: () => "TOKEN"' : 'credentials: { username: "NAME", password: "PASSWORD" }';
  const needed = [...(form === "a" ? ['form: "a"'] : []), ...(auth === "off" ? [] : [signIn])];
  const here = (code: string) =>
    code.replace(/new TodoClient\("[^"]*"(?:, \{ (\w+) \})?\)/, (_, option: string | undefined) => {
      const options = [...(option === undefined ? [] : [option]), ...needed].join(", ");
      return `new TodoClient("${address}"${options === "" ? "" : `, { ${options} }`})`;
    });
  return [
    { language: "React", parts: [{ label: "TodoList.jsx", code: here(react) }] },
    { language: "Expo", parts: [{ label: "App.jsx", code: here(expo) }] },
  ];
}
