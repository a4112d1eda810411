// The reference as a whole: contents, introduction, credentials to try with, operations, schemas and errors.

import { useEffect, useState } from "preact/hooks";
import type { Credentials } from "../../../client/basic.ts";
import { CredentialFields } from "../credential-fields.tsx";
import { Mark } from "../icons.tsx";
import { type ApiDocument, DocumentContext, exampleIdOf, operationsOf, type PlacedOperation } from "./api-document.ts";
import { OperationView } from "./operation-view.tsx";
import { Inline, Prose } from "./prose.tsx";
import { Schemas } from "./schema-view.tsx";

export function Reference({ document: description }: { document: ApiDocument }) {
  const [credentials, setCredentials] = useState<Credentials>({ username: "", password: "" });
  const [language, setLanguage] = useState("curl");
  const [itemId, setItemId] = useState(() => exampleIdOf(description));
  const operations = operationsOf(description);
  const problems = Object.entries(description["x-problems"]);
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
      <Contents document={description} operations={operations} />
      <main>
        <section>
          <h2 id="introduction">Introduction</h2>
          <Prose text={description.info.description} />
          {operations.some(({ security }) => security?.length) && (
            <CredentialsForm credentials={credentials} onChange={setCredentials} />
          )}
        </section>
        {description.tags.map(({ name, description: text }) => (
          <section key={name}>
            <h2 id={name}>{capitalised(name)}</h2>
            <Prose text={text} />
            {operations
              .filter(({ tags }) => tags.includes(name))
              .map((operation) => (
                <OperationView
                  key={operation.operationId}
                  operation={operation}
                  choices={{ credentials, language, onLanguage: setLanguage, itemId, onCreated: setItemId }}
                />
              ))}
          </section>
        ))}
        <section>
          <h2 id="schemas">Schemas</h2>
          <Schemas />
        </section>
        <section>
          <h2 id="errors">Errors</h2>
          <p>
            Every error is a problem document. Its <code>type</code> leads to the row of its <code>code</code>.
          </p>
          <table class="errors">
            <tbody>
              {problems.map(([code, { status, when, detail }]) => (
                <tr key={code} id={code}>
                  <th scope="row">
                    <a href={`#${code}`}>
                      <code>{code}</code>
                    </a>
                    <small>{status}</small>
                  </th>
                  <td>
                    <Prose text={when} />
                    <p class="hint">For example: {detail}</p>
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

function Contents({ document, operations }: { document: ApiDocument; operations: readonly PlacedOperation[] }) {
  return (
    <nav aria-label="Contents" class="contents">
      <details open={matchMedia("(min-width: 60rem)").matches}>
        <summary>Contents</summary>
        <a href="#introduction">Introduction</a>
        {document.tags.map(({ name }) => (
          <>
            <a href={`#${name}`}>{capitalised(name)}</a>
            <ul>
              {operations
                .filter(({ tags }) => tags.includes(name))
                .map(({ operationId, summary }) => (
                  <li key={operationId}>
                    <a href={`#${operationId}`}>{summary}</a>
                  </li>
                ))}
            </ul>
          </>
        ))}
        <a href="#schemas">Schemas</a>
        <a href="#errors">Errors</a>
      </details>
    </nav>
  );
}

function CredentialsForm(props: { credentials: Credentials; onChange: (credentials: Credentials) => void }) {
  const { credentials, onChange } = props;
  return (
    <form id="credentials" class="credentials" aria-label="Credentials" onSubmit={(event) => event.preventDefault()}>
      <CredentialFields credentials={credentials} onChange={onChange} />
      <p class="hint">
        <Inline text="Used when you try an operation that needs credentials. They stay in this tab’s memory." />
      </p>
    </form>
  );
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
