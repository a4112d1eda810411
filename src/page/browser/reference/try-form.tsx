// Tries an operation on this instance: a form for the parameters and the body, and the answer as it came.

import { useEffect, useRef, useState } from "preact/hooks";
import { basic, type Credentials } from "../../../client/basic.ts";
import { exampleOf, type Parameter, type PlacedOperation, resolve, useDocument } from "./api-document.ts";
import { type Answer, exchange } from "./exchange.ts";

export interface TriedItem {
  /** The ID of the item that the reader created last. Before that, the ID in the examples. */
  readonly itemId: string;
  readonly onCreated: (id: string) => void;
}

interface TryFormProps extends TriedItem {
  readonly operation: PlacedOperation;
  readonly credentials: Credentials;
}

export function TryForm({ operation, credentials, itemId, onCreated }: TryFormProps) {
  const document = useDocument();
  const parameters = (operation.parameters ?? []).map((part) => resolve(document, part));
  const body = operation.requestBody && resolve(document, operation.requestBody);
  const examples = Object.values(body?.content["application/json"]?.examples ?? {});
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(parameters.filter(({ required }) => required).map((part) => [part.name, exampleOf(part)])),
  );
  const [json, setJson] = useState(() => (body?.required ? pretty(examples[0]?.value) : ""));
  const [answer, setAnswer] = useState<Answer>();
  const [problem, setProblem] = useState("");
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  // Once the reader has created an item, the other forms are about that item, unless the reader has typed another ID.
  // The forms for creating keep the ID of the examples.
  const filledId = useRef(itemId);
  useEffect(() => {
    const before = filledId.current;
    if (operation.method === "POST" || before === itemId) return;
    filledId.current = itemId;
    setValues((all) =>
      Object.fromEntries(Object.entries(all).map(([name, value]) => [name, value === before ? itemId : value])),
    );
    setJson((text) => text.replaceAll(before, itemId));
  }, [itemId]);
  const isRunning = answer?.isComplete === false;

  const send = async () => {
    running.current?.abort();
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setAnswer(undefined);
    setProblem("");
    const headers: Record<string, string> = {};
    for (const { name, in: place } of parameters) if (place === "header" && values[name]) headers[name] = values[name];
    if (json !== "") headers["Content-Type"] = "application/json";
    try {
      if (operation.security?.length && credentials.username !== "") headers["Authorization"] = basic(credentials);
      const init = { method: operation.method, headers, signal, ...(json === "" ? {} : { body: json }) };
      await exchange(addressOf(operation, parameters, values), init, (news) => {
        setAnswer(news);
        const location = news.headers.find(([name]) => name === "location")?.[1];
        if (news.status === 201 && location !== undefined) onCreated(location.slice(location.lastIndexOf("/") + 1));
      });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (!signal.aborted) setProblem(`There was no complete answer: ${error.message}`);
    }
  };

  return (
    <form
      class="try"
      aria-label={`Try: ${operation.summary}`}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {parameters.map((parameter) => (
        <label key={parameter.name}>
          {parameter.name}
          <input
            value={values[parameter.name] ?? ""}
            onInput={({ currentTarget: { value } }) => setValues({ ...values, [parameter.name]: value })}
            placeholder={parameter.required || !parameter.examples ? "" : `for example ${exampleOf(parameter)}`}
            required={parameter.required ?? false}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            data-parameter={parameter.name}
          />
        </label>
      ))}
      {body && (
        <label>
          Body
          <textarea
            class="json"
            rows={Math.min(12, json.split("\n").length + 1)}
            value={json}
            onInput={({ currentTarget: { value } }) => setJson(value)}
            spellcheck={false}
            data-control="body"
          />
        </label>
      )}
      {examples.length > 1 && (
        <fieldset class="examples">
          <legend>Fill in an example</legend>
          {examples.map(({ summary, value }) => (
            <button key={summary} type="button" onClick={() => setJson(pretty(value))}>
              {summary}
            </button>
          ))}
        </fieldset>
      )}
      <div class="buttons">
        <button type="submit" class="primary" data-control="send">
          Send {operation.method}
        </button>
        {isRunning && (
          <button type="button" onClick={() => running.current?.abort()} data-control="stop">
            Stop
          </button>
        )}
      </div>
      <p class="problem" role="alert">
        {problem}
      </p>
      {answer && <AnswerView answer={answer} />}
    </form>
  );
}

function AnswerView({ answer }: { answer: Answer }) {
  const { status, headers, bytes, text, isCut, isComplete } = answer;
  return (
    <div class="answer" data-complete={isComplete}>
      <p role="status">
        <strong data-ok={status < 400}>{status}</strong> {bytes.toLocaleString("en")} bytes
        {!isComplete && ", still open"}
      </p>
      <pre data-part="headers">{headers.map(([name, value]) => `${name}: ${value}`).join("\n")}</pre>
      {text !== "" && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long body must also be scrolled with the keyboard
        <pre data-part="body" tabIndex={0}>
          {text}
        </pre>
      )}
      {isCut && <p class="hint">Only a part of the body is shown.</p>}
    </div>
  );
}

function addressOf(
  { path }: PlacedOperation,
  parameters: readonly Parameter[],
  values: Readonly<Record<string, string>>,
) {
  const filled = parameters
    .filter((parameter) => parameter.in === "path")
    .reduce((before, { name }) => before.replace(`{${name}}`, encodeURIComponent(values[name] ?? "")), path);
  // The address is relative to this page, because a proxy may serve the page under any path.
  const url = new URL(filled.slice(1), document.baseURI);
  for (const { name, in: place } of parameters)
    if (place === "query" && values[name]) url.searchParams.set(name, values[name]);
  return url;
}

function pretty(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
