// Sends a request and hands over the answer as it arrives. The body stays text: nothing parses it, so numbers and
// spelling are shown exactly as they were sent. A feed is an answer that does not end.

export interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** How many bytes of the body have arrived, after decompression. */
  readonly bytes: number;
  readonly text: string;
  /** True if `text` is only a part of the body. */
  readonly isCut: boolean;
  readonly isComplete: boolean;
}

/**
 * The most text that is shown: the end of a feed, or the beginning of any other body. More would make a browser slow.
 */
const charactersMax = 100_000;

/**
 * Throws if there is no answer, or if its body breaks off. If the signal is aborted during the body, what has arrived
 * counts as the complete answer.
 */
export async function exchange(
  url: URL,
  init: RequestInit & { readonly signal: AbortSignal },
  onAnswer: (answer: Answer) => void,
): Promise<void> {
  // The browser must neither answer from its cache nor ask for credentials itself.
  const response = await fetch(url, { ...init, cache: "no-store", credentials: "omit" });
  const isFeed = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const headers = [...response.headers].map(([name, value]) => [name, value] as const);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let bytes = 0;
  let text = "";
  let isCut = false;
  const report = (isComplete: boolean) =>
    onAnswer({ status: response.status, headers, bytes, text, isCut, isComplete });
  report(false);
  try {
    for await (const chunk of chunksOf(response)) {
      bytes += chunk.byteLength;
      const longer = text + decoder.decode(chunk, { stream: true });
      isCut ||= longer.length > charactersMax;
      text = isFeed ? longer.slice(-charactersMax) : longer.slice(0, charactersMax);
      report(false);
    }
  } catch (error) {
    if (!init.signal.aborted) throw error;
  }
  report(true);
}

/** Yields the parts of the body as they arrive. Safari cannot use `for await` on the stream itself. */
async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
