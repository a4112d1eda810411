// Lets all tabs of the page share one change feed. Over HTTP/1.1, a browser opens at most six connections to a host,
// and each feed holds one of them. A lock elects the tab that reads the feed, and that tab passes on what it reads.
// When that tab is closed or stops reading, the lock elects the next tab. The next tab continues from the version of
// the list that it has, so nothing is lost. Every tab sends its own edits.

import { isTodoError, type TodoClient, type WatchEvent, type WatchState } from "../client/index.ts";
import { newId } from "../client/item-text.ts";
import { messageOf } from "./sender.ts";

/** The connection is lost. An error object cannot be passed on to other tabs, so `problem` contains its text. */
interface Lost {
  readonly kind: "lost";
  readonly problem: string;
  /** True if the service has answered, for example that its database is not available. */
  readonly isAnswered: boolean;
}

export type FeedState = Exclude<WatchState, { kind: "lost" }> | Lost;

export type Snapshot = Extract<WatchEvent<string>, { kind: "snapshot" }>;

interface FeedReader {
  readonly signal: AbortSignal;
  /** The list with all events applied; undefined if the reader has none yet. */
  readonly list: () => Snapshot | undefined;
  readonly onEvent: (event: WatchEvent<string>) => void;
  readonly onState: (state: FeedState) => void;
}

/** Follows the list until the signal is aborted. Throws if the list cannot be read. */
export type Feed = (client: TodoClient<string>, reader: FeedReader) => Promise<void>;

type Message =
  /**
   * A tab has begun to listen, or lacks the list of the reading tab. If the reading tab is connected, it answers with
   * its list and its state.
   */
  | { readonly kind: "ask"; readonly from: string }
  /** `to` names the only tab that the message is for. If `to` is undefined, the message is for all tabs. */
  | { readonly kind: "event"; readonly from: string; readonly to?: string; readonly event: WatchEvent<string> }
  | { readonly kind: "state"; readonly from: string; readonly to?: string; readonly state: FeedState };

/** A feed for this tab alone. */
export const ownFeed: Feed = async (client, { signal, list, onEvent, onState }) => {
  const report = (state: WatchState) => {
    if (state.kind !== "lost") onState(state);
    else {
      const { error } = state;
      onState({ kind: "lost", problem: messageOf(error), isAnswered: isTodoError(error, "HttpError") });
    }
  };
  const options = { signal, onState: report, since: list()?.token, feedSilenceMsMax: 40_000 };
  for await (const event of client.watch(options)) {
    if (signal.aborted) return;
    onEvent(event);
  }
};

/**
 * The part of the browser's locks that is used here. The work begins when the lock is free. The returned promise
 * settles when the work does.
 */
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
  /** The tab whose list this tab has. Changes from any other tab belong to another list, so they are not applied. */
  let source: string | undefined;
  /**
   * The tab that this tab last asked for its list, because a message from it arrived before the list. Kept so that this
   * tab asks only once.
   */
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
  const { signal, list } = reader;
  const post = (message: Message) => channel.postMessage(message);
  let state: FeedState | undefined;
  let attempt = new AbortController();
  const shareList = (to?: string) => {
    const event = list();
    if (event) post({ kind: "event", from: self, event, ...(to !== undefined && { to }) });
  };
  channel.onmessage = ({ data }: { data: Message }) => {
    if (data.kind !== "ask" || !state) return;
    // The user of the asking tab may have told it to try again. So end this attempt, and the next one begins at once.
    if (state.kind === "lost") attempt.abort();
    else {
      shareList(data.from);
      post({ kind: "state", from: self, to: data.from, state });
    }
  };
  const onEvent = (event: WatchEvent<string>) => {
    reader.onEvent(event);
    // Until the connection has its first state, only this tab gets the events. The other tabs get the whole list
    // afterwards: from `onState` or, if that state is "lost", later.
    if (state) post({ kind: "event", from: self, event });
  };
  const onState = (next: FeedState) => {
    // This tab has just begun to read the feed for all tabs. The others still have the list of the tab that read it
    // before, so send them this tab's list. The next events will change this list.
    if (!state && next.kind !== "lost") shareList();
    state = next;
    reader.onState(next);
    post({ kind: "state", from: self, state: next });
  };
  while (!signal.aborted) {
    attempt = new AbortController();
    try {
      await ownFeed(client, { signal: AbortSignal.any([signal, attempt.signal]), list, onEvent, onState });
    } catch (error) {
      if (!attempt.signal.aborted) throw error;
    }
  }
}
