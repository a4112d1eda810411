// The reference as a whole: the introduction, credentials to try with, the operations, schemas and errors.

import { useEffect, useRef, useState } from "preact/hooks";
import { basic } from "../../../client/basic.ts";
import { CredentialFields, typedCredentials } from "../credential-fields.tsx";
import { Mark } from "../icons.tsx";
import type { ApiDocument, ListedOperation } from "./api-document.ts";
import { OperationView } from "./operation-view.tsx";
import { DocumentContext, Name, Prose } from "./prose.tsx";
import { Schemas } from "./schema-view.tsx";

/** True if an operation takes credentials of this kind. */
function takes(operations: readonly ListedOperation[], scheme: "basic" | "bearer"): boolean {
  return operations.some(({ security }) => security.some((one) => scheme in one));
}

function authorizationOf(form: FormData): string | undefined {
  const token = String(form.get("token") ?? "").trim();
  if (token !== "") return `Bearer ${token}`;
  const credentials = typedCredentials(form);
  return credentials.username === "" ? undefined : basic(credentials);
}

export function Reference({ document: description }: { document: ApiDocument }) {
  const credentials = useRef<HTMLFormElement>(null);
  const [language, setLanguage] = useState("curl");
  const authorize = () => authorizationOf(new FormData(credentials.current ?? undefined));
  const choices = { authorize, language, onLanguage: setLanguage };
  const { operations } = description;
  const groups = description.tags.map(({ name, description: text }) => ({
    name,
    title: name.charAt(0).toUpperCase() + name.slice(1),
    text,
    operations: operations.filter(({ tags }) => tags.includes(name)),
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
          todoitems API <small>{description.info.version}</small>
        </h1>
        <span class="spring" />
        <nav aria-label="Elsewhere" class="buttons hint">
          <a href="./">Items</a> <a href="openapi.json">openapi.json</a> <a href="openapi.yaml">openapi.yaml</a>{" "}
          <a href="openapi-3.0.json">OpenAPI 3.0</a>
        </nav>
      </header>
      <nav aria-label="Contents" class="contents hint">
        <a href="#introduction">Introduction</a>
        {groups.map(({ name, title, operations }) => [
          <a key={name} href={`#${name}`}>
            {title}
          </a>,
          ...operations.map(({ operationId, method, summary }) => (
            <a key={operationId} href={`#${operationId}`}>
              <code class="method">{method}</code> {summary}
            </a>
          )),
        ])}
        <a href="#schemas">Schemas</a>
        <a href="#errors">Errors</a>
      </nav>
      <main>
        <section>
          <h2 id="introduction">Introduction</h2>
          <Prose text={description.info.description} />
          <p>
            Whole programs for several platforms are on the <a href="./">page of the items</a>, under “Connect your
            app”.
          </p>
          {operations.some(({ security }) => security.length > 0) && (
            <form
              id="credentials"
              class="fields"
              aria-label="Credentials"
              ref={credentials}
              onSubmit={(event) => event.preventDefault()}
            >
              {takes(operations, "basic") && <CredentialFields />}
              {takes(operations, "bearer") && (
                <label>
                  Token
                  <input name="token" type="password" autocomplete="off" data-control="token" />
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
