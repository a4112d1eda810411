// What a request may contain, as a form that tries it on this instance, and the response as it came. The body stays
// text: nothing parses it, so numbers and spelling are shown exactly as they were sent.

import { useId, useRef, useState } from "preact/hooks";
import { Copyable } from "../copyable.tsx";
import { exampleText, type ListedOperation } from "./api-document.ts";
import { Inline } from "./prose.tsx";
import { ContentView } from "./schema-view.tsx";

interface TryFormProps {
  readonly operation: ListedOperation;
  readonly authorize: () => string | undefined;
}

interface Received {
  /** The status, or why there is none. */
  readonly status: string;
  /** The headers, an empty line, and what has arrived of the body. */
  readonly text: string;
  readonly isComplete: boolean;
}

/** The most text that is shown. More would make a browser slow. */
const charactersMax = 50_000;

export function TryForm({ operation, authorize }: TryFormProps) {
  const { method, path, parameters = [], requestBody, security } = operation;
  const formId = useId();
  const json = requestBody?.content["application/json"];
  const [example, ...others] = Object.entries(json?.examples ?? {});
  const [received, setReceived] = useState<Received>();
  const running = useRef(new AbortController());

  const send = (form: FormData) => {
    running.current.abort();
    running.current = new AbortController();
    const typed = (name: string) => String(form.get(name) ?? "");
    // The address is relative to this page, because a proxy may serve the page under any path.
    const url = new URL(path.slice(1).replace("{id}", encodeURIComponent(typed("id"))), document.baseURI);
    const headers = new Headers();
    for (const { name, in: place } of parameters) {
      if (place === "header" && typed(name)) headers.set(name, typed(name));
      if (place === "query" && typed(name)) url.searchParams.set(name, typed(name));
    }
    const body = typed("body") || null;
    if (body !== null) headers.set("Content-Type", "application/json");
    const request = () => {
      const authorization = security.length > 0 ? authorize() : undefined;
      if (authorization !== undefined) headers.set("Authorization", authorization);
      return { method, headers, body };
    };
    setReceived(undefined);
    void exchange(url, request, running.current.signal, setReceived);
  };

  return (
    <form
      class="try fields"
      aria-label={`Try: ${operation.summary}`}
      onSubmit={(event) => {
        event.preventDefault();
        send(new FormData(event.currentTarget));
      }}
    >
      {parameters.map(({ name, in: place, required = false, description, examples = {} }) => (
        <div key={name} class="field">
          <label for={formId + name}>
            <span>
              <code>{name}</code> {place}
              {required && ", required"}
            </span>
          </label>
          <p>
            <Inline text={description} />
          </p>
          <input
            id={formId + name}
            name={name}
            defaultValue={required ? String(Object.values(examples)[0]?.value ?? "") : ""}
            required={required}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
          />
        </div>
      ))}
      {json && (
        <div class="field">
          <label for={`${formId}body`}>Body</label>
          <ContentView content={{ "application/json": { ...json, examples: Object.fromEntries(others) } }} />
          <textarea
            id={`${formId}body`}
            class="json"
            name="body"
            rows={6}
            defaultValue={exampleText(example?.[1].value ?? "")}
            spellcheck={false}
          />
        </div>
      )}
      <div class="buttons">
        <button type="submit" class="primary" data-control="send">
          Send {method}
        </button>
        {received?.isComplete === false && (
          <button type="button" onClick={() => running.current.abort()} data-control="stop">
            Stop
          </button>
        )}
      </div>
      {received && (
        <div class="answer" data-complete={received.isComplete}>
          <p role="status">
            <strong>{received.status}</strong>
          </p>
          {received.text !== "" && <Copyable label="Response" text={received.text} />}
        </div>
      )}
    </form>
  );
}

/**
 * Sends a request, and shows the response while its body arrives. A feed does not end by itself: what has arrived when
 * the reader stops it counts as the complete response.
 */
async function exchange(
  url: URL,
  request: () => RequestInit,
  signal: AbortSignal,
  onNews: (received: Received) => void,
): Promise<void> {
  let [status, text] = ["", ""];
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  try {
    // The browser must neither respond from its cache nor ask for credentials itself.
    const response = await fetch(url, { ...request(), signal, cache: "no-store", credentials: "omit" });
    status = String(response.status);
    text = `${[...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n")}\n\n`;
    // Safari cannot use `for await` on the stream itself.
    const reader = response.body?.getReader();
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      if (text.length < charactersMax)
        text = (text + decoder.decode(part.value, { stream: true })).slice(0, charactersMax);
      onNews({ status, text, isComplete: false });
    }
  } catch (error) {
    if (!signal.aborted) status = `There was no complete response: ${error}`;
  }
  if (status !== "") onNews({ status, text, isComplete: true });
}
