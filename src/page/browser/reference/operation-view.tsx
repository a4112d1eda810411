// One operation: what it does, what to send, what comes back, code for it, and a form to try it.

import { atBase } from "../../../description/code-samples.ts";
import { CodeSamples } from "../code-samples.tsx";
import { Copyable } from "../copyable.tsx";
import { alternativeOf, type Content, exampleText, isRare, type ListedOperation } from "./api-document.ts";
import { Inline, Name, Prose, useDocument } from "./prose.tsx";
import { SchemaType } from "./schema-view.tsx";
import { type TriedItem, TryForm } from "./try-form.tsx";

/** The reader's choices. They apply to all operations. */
interface ReaderChoices extends TriedItem {
  /** What an operation that needs credentials is tried with. Undefined if the reader has typed none. */
  readonly authorization: string | undefined;
  readonly language: string;
  readonly onLanguage: (language: string) => void;
}

export function OperationView({ operation, choices }: { operation: ListedOperation; choices: ReaderChoices }) {
  const document = useDocument();
  const { operationId, summary, description, security, parameters = [], requestBody } = operation;
  const alternative = alternativeOf(document, operation);
  return (
    <section class="operation" aria-labelledby={operationId}>
      <h3 id={operationId}>{summary}</h3>
      <p>
        <Route operation={operation} />
        {security.length > 0 && (
          <small>
            <a href="#credentials">needs credentials</a>
          </small>
        )}
      </p>
      <Prose text={description} />
      <details class="try-it">
        <summary>Try it</summary>
        <TryForm operation={operation} {...choices} />
      </details>
      <h4>Code</h4>
      <CodeSamples
        samples={operation["x-codeSamples"].map(({ label, source }) => ({
          language: label,
          parts: [{ label: summary, code: atBase(source, document, pageAddress()) }],
        }))}
        chosen={choices.language}
        onChoose={choices.onLanguage}
      />
      {(parameters.length > 0 || requestBody) && <h4>Request</h4>}
      {parameters.length > 0 && (
        <table>
          <tbody>
            {parameters.map((parameter) => (
              <tr key={parameter.name}>
                <th scope="row">
                  <code>{parameter.name}</code>
                  <small>
                    {parameter.in}
                    {parameter.required && ", required"}
                  </small>
                </th>
                <td>
                  <Inline text={parameter.description} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {requestBody && <ContentView content={requestBody.content} />}
      <h4>Responses</h4>
      <Responses operation={operation} />
      {alternative && (
        <details class="also">
          <summary>
            Also accepted: <Route operation={alternative} />
          </summary>
          <OperationView operation={alternative} choices={choices} />
        </details>
      )}
    </section>
  );
}

/** The address under which this page was opened. Behind a proxy, the service does not know it. */
export function pageAddress(): string {
  return new URL(".", document.baseURI).href;
}

function Route({ operation: { method, path } }: { operation: ListedOperation }) {
  return (
    <>
      <code data-method={method}>{method}</code> <code>{path}</code>
    </>
  );
}

/** What the operation returns. The errors that any request may meet are in the table of errors only. */
function Responses({ operation }: { operation: ListedOperation }) {
  const document = useDocument();
  const responses = Object.entries(operation.responses).filter(
    ([status, response]) => !isRare(document, status, response),
  );
  return (
    <table>
      <tbody>
        {responses.map(([status, { description, headers = {}, content = {} }]) => (
          <tr key={status}>
            <th scope="row">{status}</th>
            <td>
              <Prose text={description} />
              {Object.keys(content["application/problem+json"]?.examples ?? {}).map((code) => (
                <p key={code}>
                  <Name name={code} />: <Inline text={document.components.examples[code]?.summary ?? ""} />
                </p>
              ))}
              {Object.keys(headers).length > 0 && (
                <p class="hint">
                  Headers:{" "}
                  <Inline
                    text={Object.keys(headers)
                      .map((name) => `\`${name}\``)
                      .join(", ")}
                  />
                </p>
              )}
              {Number(status) < 300 && <ContentView content={content} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ContentView({ content }: { content: Content }) {
  return Object.entries(content).map(([mediaType, { schema, examples = {} }]) => (
    <div key={mediaType}>
      <p class="hint">
        <code>{mediaType}</code> {schema && <SchemaType schema={schema} />}
      </p>
      {Object.entries(examples).map(([name, { summary = "Example", value }]) => (
        <Copyable key={name} label={summary} text={exampleText(value)} />
      ))}
    </div>
  ));
}
