// Tries an operation on this instance: a form for the parameters and the body, and the response as it came. The body
// stays text: nothing parses it, so numbers and spelling are shown exactly as they were sent.

import { useEffect, useRef, useState } from "preact/hooks";
import { basic, type Credentials } from "../../../client/basic.ts";
import { exampleIdOf, type Operation, textOf } from "./api-document.ts";
import { useDocument } from "./prose.tsx";

export interface TriedItem {
  /** The ID of the item that the reader created last. Before that, the ID in the examples. */
  readonly itemId: string;
  readonly onCreated: (id: string) => void;
}

interface TryFormProps extends TriedItem {
  readonly operation: Operation;
  readonly credentials: Credentials;
}

interface Received {
  readonly status: number;
  readonly headers: string;
  readonly text: string;
  readonly isComplete: boolean;
}

/** The most text that is shown. More would make a browser slow. */
const charactersMax = 100_000;

export function TryForm({ operation, credentials, itemId, onCreated }: TryFormProps) {
  const { method, parameters = [], requestBody, security } = operation;
  const exampleId = exampleIdOf(useDocument());
  // Once the reader has created an item, the other forms are about that item, unless the reader types something else.
  const id = method === "POST" ? exampleId : itemId;
  const [example] = Object.values(requestBody?.content["application/json"]?.examples ?? {});
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const fieldValue = (name: string) => typed[name] ?? (name === "id" ? id : "");
  const json = typed["body"] ?? (example ? textOf(example.value).replaceAll(exampleId, id) : "");
  const [received, setReceived] = useState<Received>();
  const [problem, setProblem] = useState("");
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);

  const send = async () => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    setReceived(undefined);
    setProblem("");
    const headers = new Headers(json === "" ? {} : { "Content-Type": "application/json" });
    for (const { name, in: place } of parameters)
      if (place === "header" && fieldValue(name)) headers.set(name, fieldValue(name));
    if (security.length > 0 && credentials.username !== "") headers.set("Authorization", basic(credentials));
    const body = requestBody && json !== "" ? json : null;
    const { signal } = controller;
    try {
      // The browser must neither respond from its cache nor ask for credentials itself.
      const response = await fetch(address(), {
        method,
        headers,
        body,
        signal,
        cache: "no-store",
        credentials: "omit",
      });
      const location = response.headers.get("location");
      if (response.status === 201 && location !== null) onCreated(location.slice(location.lastIndexOf("/") + 1));
      await show(response, signal, setReceived);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (!signal.aborted) setProblem(`There was no complete response: ${error.message}`);
    }
  };

  /** The address is relative to this page, because a proxy may serve the page under any path. */
  const address = () => {
    const path = operation.path.replace("{id}", encodeURIComponent(fieldValue("id")));
    const url = new URL(path.slice(1), document.baseURI);
    for (const { name, in: place } of parameters)
      if (place === "query" && fieldValue(name)) url.searchParams.set(name, fieldValue(name));
    return url;
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
      {parameters.map(({ name, required = false }) => (
        <label key={name}>
          {name}
          <input
            value={fieldValue(name)}
            onInput={({ currentTarget: { value } }) => setTyped({ ...typed, [name]: value })}
            required={required}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            data-parameter={name}
          />
        </label>
      ))}
      {requestBody && (
        <label>
          Body
          <textarea
            class="json"
            rows={Math.min(12, json.split("\n").length + 1)}
            value={json}
            onInput={({ currentTarget: { value } }) => setTyped({ ...typed, body: value })}
            spellcheck={false}
            data-control="body"
          />
        </label>
      )}
      <div class="buttons">
        <button type="submit" class="primary" data-control="send">
          Send {method}
        </button>
        {received?.isComplete === false && (
          <button type="button" onClick={() => running.current?.abort()} data-control="stop">
            Stop
          </button>
        )}
      </div>
      <p class="problem" role="alert">
        {problem}
      </p>
      {received && (
        <div class="answer" data-complete={received.isComplete}>
          <p role="status">
            <strong data-ok={received.status < 400}>{received.status}</strong>
          </p>
          <pre data-part="headers">{received.headers}</pre>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long body must also be scrolled with the keyboard */}
          <pre data-part="body" tabIndex={0}>
            {received.text}
          </pre>
        </div>
      )}
    </form>
  );
}

/**
 * Shows the response while its body arrives. A feed does not end by itself: what has arrived when the reader stops it
 * counts as the complete response.
 */
async function show(response: Response, signal: AbortSignal, onNews: (received: Received) => void): Promise<void> {
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  let text = "";
  const report = (isComplete: boolean) => onNews({ status: response.status, headers, text, isComplete });
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  // Safari cannot use `for await` on the stream itself.
  const reader = response.body?.getReader();
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      if (text.length < charactersMax)
        text = (text + decoder.decode(part.value, { stream: true })).slice(0, charactersMax);
      report(false);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  report(true);
}
