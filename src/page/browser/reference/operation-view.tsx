// One operation: what it does, what to send, what comes back, code for it, and a form to try it.

import type { Credentials } from "../../../client/basic.ts";
import { sampleServer } from "../../../description/code-samples.ts";
import { CodeTabs } from "../code-tabs.tsx";
import { Copyable } from "../copyable.tsx";
import {
  type MediaType,
  type PlacedOperation,
  type Response,
  resolve,
  schemaName,
  useDocument,
} from "./api-document.ts";
import { Inline, Prose } from "./prose.tsx";
import { SchemaType } from "./schema-view.tsx";
import { type TriedItem, TryForm } from "./try-form.tsx";

/** The reader's choices. They apply to all operations. */
interface ReaderChoices extends TriedItem {
  readonly credentials: Credentials;
  readonly language: string;
  readonly onLanguage: (language: string) => void;
}

export function OperationView({ operation, choices }: { operation: PlacedOperation; choices: ReaderChoices }) {
  const document = useDocument();
  const { operationId, method, path, summary, description, security } = operation;
  const parameters = (operation.parameters ?? []).map((part) => resolve(document, part));
  const body = operation.requestBody && resolve(document, operation.requestBody);
  const responses = Object.entries(operation.responses).map(
    ([status, part]) => [status, resolve(document, part)] as const,
  );
  const samples = operation["x-codeSamples"] ?? [];
  return (
    <section class="operation" aria-labelledby={operationId}>
      <h3 id={operationId}>{summary}</h3>
      <p class="route">
        <code data-method={method}>{method}</code> <code>{path}</code>
        {security?.length ? (
          <small>
            {" "}
            <a href="#credentials">needs credentials</a>
          </small>
        ) : undefined}
      </p>
      <Prose text={description} />
      <details class="try-it">
        <summary>Try it</summary>
        <TryForm operation={operation} {...choices} />
      </details>
      {parameters.length > 0 && (
        <>
          <h4>Parameters</h4>
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
        </>
      )}
      {body && (
        <>
          <h4>Body</h4>
          {body.description !== undefined && <Prose text={body.description} />}
          <Content content={body.content} hasExamples />
        </>
      )}
      {samples.length > 0 && (
        <>
          <h4>Code</h4>
          <CodeTabs
            samples={samples.map((sample) => sampleOf(sample, summary, document.servers[0]?.url))}
            chosen={choices.language}
            onChoose={choices.onLanguage}
          />
        </>
      )}
      <h4>Answers</h4>
      <table>
        <tbody>
          {responses.map(([status, response]) => (
            <tr key={status}>
              <th scope="row">{status}</th>
              <td>
                <ResponseView response={response} isSuccess={Number(status) < 300} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ResponseView({ response, isSuccess }: { response: Response; isSuccess: boolean }) {
  const headers = Object.keys(response.headers ?? {});
  // The introduction says that every error is a problem document, so that is not repeated here.
  const isPlainProblem = schemaName(response.content?.["application/problem+json"]?.schema ?? {}) === "Problem";
  return (
    <>
      <Prose text={response.description} />
      {headers.length > 0 && (
        <p class="hint">
          Headers: <Inline text={headers.map((name) => `\`${name}\``).join(", ")} />
        </p>
      )}
      {response.content && !isPlainProblem && <Content content={response.content} hasExamples={isSuccess} />}
    </>
  );
}

/**
 * Shows the types and the examples of a body. The examples of errors are left out: each operation has dozens of them,
 * and the table of errors explains every error.
 */
function Content({ content, hasExamples }: { content: Readonly<Record<string, MediaType>>; hasExamples: boolean }) {
  return Object.entries(content).map(([mediaType, { schema, examples = {} }]) => (
    <div key={mediaType}>
      <p class="hint">
        <code>{mediaType}</code> {schema && <SchemaType schema={schema} />}
      </p>
      {hasExamples &&
        Object.entries(examples).map(([name, { summary = "Example", value }]) => (
          <Copyable key={name} label={summary} text={textOf(value)} isLong />
        ))}
    </div>
  ));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
}

const untested = " (not tested)";

function sampleOf({ label, source }: { label: string; source: string }, summary: string, serverUrl = "/") {
  const isRun = !label.endsWith(untested);
  const language = isRun ? label : label.slice(0, -untested.length);
  return { language, isRun, parts: [{ label: summary, code: atThisPage(source, serverUrl) }] };
}

/**
 * Replaces the service's address in a sample with the address of this page. Behind a proxy, the service does not know
 * the address by which this page was opened.
 */
function atThisPage(source: string, serverUrl: string): string {
  return source.replaceAll(`${sampleServer(serverUrl)}/`, new URL(".", document.baseURI).href);
}
