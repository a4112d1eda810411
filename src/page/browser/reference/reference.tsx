// The reference as a whole: one request and its response, the introduction, credentials to try with, the operations,
// whole programs, schemas and errors.

import { useEffect, useState } from "preact/hooks";
import { basic, type Credentials } from "../../../client/basic.ts";
import { atBase, exampleFiles } from "../../../description/code-samples.ts";
import { CodeSamples } from "../code-samples.tsx";
import { Copyable } from "../copyable.tsx";
import { CredentialFields } from "../credential-fields.tsx";
import { Mark } from "../icons.tsx";
import { type ApiDocument, alternativeOf, exampleIdOf, exampleText, type ListedOperation } from "./api-document.ts";
import { OperationView, pageAddress } from "./operation-view.tsx";
import { DocumentContext, Name, Prose } from "./prose.tsx";
import { Schemas } from "./schema-view.tsx";

/** True if an operation takes credentials of this kind. */
function takes(operations: readonly ListedOperation[], scheme: "basic" | "bearer"): boolean {
  return operations.some(({ security }) => security.some((one) => scheme in one));
}

function authorizationOf(credentials: Credentials, token: string): string | undefined {
  if (token !== "") return `Bearer ${token}`;
  return credentials.username === "" ? undefined : basic(credentials);
}

export function Reference({ document: description }: { document: ApiDocument }) {
  const [credentials, setCredentials] = useState<Credentials>({ username: "", password: "" });
  const [token, setToken] = useState("");
  const [language, setLanguage] = useState("curl");
  const [program, setProgram] = useState("C#");
  const [itemId, setItemId] = useState(() => exampleIdOf(description));
  const choices = {
    authorization: authorizationOf(credentials, token),
    language,
    onLanguage: setLanguage,
    itemId,
    onCreated: setItemId,
  };
  const alternatives = description.operations.map((operation) => alternativeOf(description, operation));
  const shown = description.operations.filter((operation) => !alternatives.includes(operation));
  const groups = description.tags.map(({ name, description: text }) => ({
    name,
    title: name.charAt(0).toUpperCase() + name.slice(1),
    text,
    operations: shown.filter(({ tags }) => tags.includes(name)),
  }));
  useEffect(() => {
    // The address may name a part of the reference. The browser looked for that part before it was drawn, so go there
    // now.
    if (location.hash !== "") location.replace(location.hash);
  }, []);
  return (
    <DocumentContext.Provider value={description}>
      <header>
        <h1>
          <Mark />
          todoitems API
        </h1>
        <span class="hint">{description.info.version}</span>
        <span class="spring" />
        <nav aria-label="Elsewhere">
          <a href="./">Items</a> <a href="openapi.json">openapi.json</a> <a href="openapi.yaml">openapi.yaml</a>{" "}
          <a href="openapi-3.0.json">OpenAPI 3.0</a>
        </nav>
      </header>
      <nav aria-label="Contents" class="contents">
        <details open={matchMedia("(min-width: 60rem)").matches}>
          <summary>Contents</summary>
          <a href="#introduction">Introduction</a>
          {groups.map(({ name, title, operations }) => (
            <div key={name}>
              <a href={`#${name}`}>{title}</a>
              <ul>
                {operations.map(({ operationId, method, summary }) => (
                  <li key={operationId}>
                    <a href={`#${operationId}`}>
                      <code data-method={method}>{method}</code> {summary}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ))}
          <a href="#programs">Programs</a>
          <a href="#schemas">Schemas</a>
          <a href="#errors">Errors</a>
        </details>
      </nav>
      <main>
        <section>
          <h2 id="introduction">One request, one response</h2>
          <FirstExchange document={description} operation={shown[0]} />
          <Prose text={description.info.description} />
          {shown.some(({ security }) => security.length > 0) && (
            <form id="credentials" class="try" aria-label="Credentials" onSubmit={(event) => event.preventDefault()}>
              {takes(shown, "basic") && (
                <CredentialFields
                  credentials={credentials}
                  onChange={(typed) => setCredentials((now) => ({ ...now, ...typed }))}
                />
              )}
              {takes(shown, "bearer") && (
                <label>
                  Token
                  <input
                    type="password"
                    value={token}
                    onInput={({ currentTarget: { value } }) => setToken(value.trim())}
                    autocomplete="off"
                    data-control="token"
                  />
                </label>
              )}
              <p class="hint">Used when you try an operation that needs credentials. They stay in this tab’s memory.</p>
            </form>
          )}
        </section>
        {groups.map(({ name, title, text, operations }) => (
          <section key={name}>
            <h2 id={name}>{title}</h2>
            <Prose text={text} />
            {operations.map((operation) => (
              <OperationView key={operation.operationId} operation={operation} choices={choices} />
            ))}
          </section>
        ))}
        <section>
          <h2 id="programs">Programs</h2>
          <p>Whole programs for other platforms, as they are in the folder of examples.</p>
          <CodeSamples samples={exampleFiles} chosen={program} onChoose={setProgram} />
        </section>
        <section>
          <h2 id="schemas">Schemas</h2>
          <Schemas />
        </section>
        <section>
          <h2 id="errors">Errors</h2>
          <p>
            Every error is a problem document. Its <code>type</code> leads to the row of its <code>code</code>. Errors
            that are not listed with an operation can be met by any request.
          </p>
          <table>
            <tbody>
              {Object.entries(description.components.examples).map(([code, { summary, value }]) => (
                <tr key={code} id={code}>
                  <th scope="row">
                    <Name name={code} />
                    <small>{value.status}</small>
                  </th>
                  <td>
                    <Prose text={summary} />
                    <p class="hint">For example: {value.detail}</p>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </main>
    </DocumentContext.Provider>
  );
}

/** The first operation as curl sends it, and its response. */
function FirstExchange({ document, operation }: { document: ApiDocument; operation: ListedOperation | undefined }) {
  const { headers = {}, content = {} } = operation?.responses["200"] ?? {};
  const [[mediaType, { examples = {} }] = ["", {}]] = Object.entries(content);
  const lines = ["ETag", "X-Total-Count"].map((name) => `${name}: ${headers[name]?.example}`);
  const body = exampleText(Object.values(examples)[0]?.value);
  const request = atBase(operation?.["x-codeSamples"][0]?.source ?? "", document, pageAddress());
  return (
    <>
      <Copyable label="Request" text={request} />
      <Copyable
        label="Response"
        text={["HTTP/1.1 200 OK", `Content-Type: ${mediaType}; charset=utf-8`, ...lines, "", body].join("\n")}
      />
    </>
  );
}
