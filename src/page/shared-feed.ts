// Lets all tabs of the page share one change feed. Over plain HTTP, a browser opens at most six connections to a host,
// and each feed holds one of them. A lock elects the tab that reads the feed, and that tab passes on what it reads. When
// it is closed or rests, the lock elects the next tab, which begins with the whole list. So nothing is lost. Every tab
// sends its own edits.

import type { TodoClient, WatchEvent, WatchedItem, WatchState } from "../client/index.ts";
import { newId } from "../client/item-text.ts";
import { messageOf } from "./sender.ts";

/** The state of the feed. An error cannot be passed on to other tabs, so this has its text. */
export type FeedState = Exclude<WatchState, { kind: "lost" }> | { readonly kind: "lost"; readonly problem: string };

interface FeedReader {
  readonly signal: AbortSignal;
  readonly onEvent: (event: WatchEvent<string>) => void;
  readonly onState: (state: FeedState) => void;
}

/** Follows the list until the signal is aborted. Throws if the list cannot be read. */
export type Feed = (client: TodoClient<string>, reader: FeedReader) => Promise<void>;

type Message =
  /** A tab has begun to listen. The reading tab sends it the list. */
  | { readonly kind: "ask"; readonly from: string }
  /** `to` names the only tab that this is for. If it is undefined, it is for all of them. */
  | { readonly kind: "event"; readonly from: string; readonly to?: string; readonly event: WatchEvent<string> }
  | { readonly kind: "state"; readonly from: string; readonly to?: string; readonly state: FeedState };

/** A feed for this tab alone. */
export const ownFeed: Feed = async (client, { signal, onEvent, onState }) => {
  const report = (state: WatchState) =>
    onState(state.kind === "lost" ? { kind: "lost", problem: messageOf(state.error) } : state);
  for await (const event of client.watch({ signal, onState: report, feedSilenceMsMax: 40_000 })) onEvent(event);
};

/** The browser's locks. The promise settles with that of the work, which begins when the lock is free. */
interface Locks {
  request(name: string, options: { signal: AbortSignal }, work: () => Promise<void>): Promise<void>;
}

/** A feed for all tabs that use the same name. */
export function sharedFeed(name: string, locks: Locks): Feed {
  return async (client, reader) => {
    const self = newId();
    const channel = new BroadcastChannel(name);
    follow(reader, self, channel);
    try {
      await locks.request(name, { signal: reader.signal }, () => lead(client, reader, self, channel));
    } finally {
      channel.close();
    }
  };
}

/** Listens to the tab that reads the feed. */
function follow(reader: FeedReader, self: string, channel: BroadcastChannel): void {
  const ask = () => channel.postMessage({ kind: "ask", from: self } satisfies Message);
  /** The tab whose list this tab has. Events of any other tab belong to another list. */
  let source: string | undefined;
  /** The tab that was asked for its list because an event of it came without the list. */
  let asked: string | undefined;
  channel.onmessage = ({ data }: { data: Message }) => {
    if (reader.signal.aborted || data.kind === "ask" || (data.to !== undefined && data.to !== self)) return;
    if (data.kind === "state" && data.state.kind === "lost") {
      reader.onState(data.state);
      return;
    }
    if (data.kind === "event" && data.event.kind === "snapshot") source = data.from;
    if (data.from === source) {
      if (data.kind === "event") reader.onEvent(data.event);
      else reader.onState(data.state);
    } else if (data.from !== asked) {
      asked = data.from;
      ask();
    }
  };
  ask();
}

/** Reads the feed for this tab and all others. */
async function lead(client: TodoClient<string>, reader: FeedReader, self: string, channel: BroadcastChannel) {
  const { signal } = reader;
  const post = (message: Message) => channel.postMessage(message);
  let items: Map<string, WatchedItem<string>> | undefined;
  let version: number | undefined;
  let state: FeedState | undefined;
  let attempt = new AbortController();
  channel.onmessage = ({ data }: { data: Message }) => {
    if (data.kind !== "ask") return;
    // The user of the tab that asks has perhaps told it to try again now.
    if (state?.kind === "lost") attempt.abort();
    else if (items) {
      const event = { kind: "snapshot", items: [...items.values()], version } as const;
      post({ kind: "event", from: self, to: data.from, event });
      // Without a state yet, the list comes before it. The state then follows for all tabs.
      if (state) post({ kind: "state", from: self, to: data.from, state });
    }
  };
  const onEvent = (event: WatchEvent<string>) => {
    if (event.kind === "snapshot") items = new Map(event.items.map((item) => [item.id, item]));
    else if (event.kind === "removed") items?.delete(event.id);
    else items?.set(event.id, event);
    version = event.version ?? version;
    reader.onEvent(event);
    post({ kind: "event", from: self, event });
  };
  const onState = (next: FeedState) => {
    state = next;
    reader.onState(next);
    post({ kind: "state", from: self, state: next });
  };
  while (!signal.aborted) {
    attempt = new AbortController();
    try {
      await ownFeed(client, { signal: AbortSignal.any([signal, attempt.signal]), onEvent, onState });
    } catch (error) {
      if (!attempt.signal.aborted) throw error;
    }
  }
}
