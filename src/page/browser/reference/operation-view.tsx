// One operation: what it does, code for it, a form with what to send, and what comes back.

import { atBase } from "../../../description/code-samples.ts";
import { CodeSamples } from "../code-samples.tsx";
import { isRare, type ListedOperation } from "./api-document.ts";
import { Inline, Name, Prose, useDocument } from "./prose.tsx";
import { ContentView } from "./schema-view.tsx";
import { TryForm } from "./try-form.tsx";

/** The reader's choices. They apply to all operations. */
interface ReaderChoices {
  /** Returns what an operation that needs credentials is tried with. Undefined if the reader has typed none. */
  readonly authorize: () => string | undefined;
  readonly language: string;
  readonly onLanguage: (language: string) => void;
}

export function OperationView({ operation, choices }: { operation: ListedOperation; choices: ReaderChoices }) {
  const description = useDocument();
  const { operationId, method, path, summary, security } = operation;
  // The address under which this page was opened. Behind a proxy, the service does not know it.
  const base = new URL(".", document.baseURI).href;
  return (
    <section class="operation" aria-labelledby={operationId}>
      <h3 id={operationId}>{summary}</h3>
      <p>
        <code class="method">{method}</code> <code>{path}</code>
        {security.length > 0 && (
          <small>
            <a href="#credentials">needs credentials</a>
          </small>
        )}
      </p>
      <Prose text={operation.description} />
      <h4>Code</h4>
      <CodeSamples
        samples={operation["x-codeSamples"].map(({ label, source }) => ({
          language: label,
          parts: [{ label: summary, code: atBase(source, description, base) }],
        }))}
        chosen={choices.language}
        onChoose={choices.onLanguage}
      />
      <h4>Request</h4>
      <TryForm operation={operation} authorize={choices.authorize} />
      <h4>Responses</h4>
      <Responses operation={operation} />
    </section>
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
