// Follows the service while somebody wants that: it opens and closes the connection, obeys the events of the web page,
// knows the status of the connection, and brings what has changed into the mirror of the list.

import { hasStatus } from "../errors.ts";
import type { Requester } from "../requester.ts";
import { Mirror, unchanged } from "./mirror.ts";
import type { Connected, ListStatus, LiveConnection } from "./status.ts";
import { type ListChange, Source, type WatchOptions } from "./watch.ts";

/** What a follower tells its list. */
interface Followed {
  /** The mirror has taken over this change. */
  onChange(change: ListChange): void;
  onStatus(): void;
  /** The page was hidden a moment ago, and may soon be closed. */
  onHidden?(): void;
}

/** How long a page may be hidden before it closes its feed: a browser has six connections to a host over HTTP/1.1. */
const hiddenMsMax = 2_000;

export class Follower<Item> {
  readonly mirror: Mirror<Item>;
  readonly #requester: Requester<Item>;
  readonly #options: Pick<WatchOptions, "pollMs">;
  readonly #list: Followed;
  #connection: LiveConnection = { kind: "stopped" };
  #needsCredentials = false;
  /** What the last connection has said about the service. Undefined if that may no longer be true. */
  known: Connected | undefined;
  /** Ends the current connection, if there is one. */
  #controller: AbortController | undefined;
  #isWatched = false;
  #isNeeded = false;
  #isHidden = false;
  #leavePage: (() => void) | undefined;
  #heardAtMs = 0;

  constructor(requester: Requester<Item>, options: Pick<WatchOptions, "pollMs">, list: Followed) {
    this.mirror = new Mirror(requester.parseListed);
    this.#requester = requester;
    this.#options = options;
    this.#list = list;
  }

  get status(): ListStatus {
    const [connection, needsCredentials] = [this.#connection, this.#needsCredentials];
    return { connection, readOnly: this.known?.readOnly ?? false, needsCredentials, loaded: this.mirror.isLoaded };
  }

  /** The connection, if it is made. Then it is known which store answers. */
  get connected(): Connected | undefined {
    return "readOnly" in this.#connection ? this.#connection : undefined;
  }

  /** The service may be another one than it was. The next connection finds out. */
  doubt(): void {
    this.known = undefined;
  }

  /** How long the change feed has been silent. If the clock was set back, nobody can tell, so it counts as for ever. */
  get silentMs(): number {
    const silentMs = Date.now() - this.#heardAtMs;
    return silentMs < 0 ? Number.POSITIVE_INFINITY : silentMs;
  }

  /**
   * Connects or disconnects. `isWatched`: somebody looks at the list, so be connected while the page is visible.
   * `isNeeded`: be connected in a hidden page, too.
   */
  follow(isWatched: boolean, isNeeded = false): void {
    this.#isWatched = isWatched;
    this.#isNeeded = isNeeded;
    if (isWatched || isNeeded) this.#leavePage ??= this.#observePage();
    else {
      this.#leavePage?.();
      this.#leavePage = undefined;
    }
    const isWanted = isNeeded || (isWatched && !this.#isHidden);
    if (isWanted !== (this.#controller !== undefined)) this.#connect(isWanted);
  }

  /** Connects again now, instead of waiting for the next attempt. Does nothing while it is stopped. */
  reconnect(): void {
    if (this.#controller) this.#connect(true);
  }

  /**
   * Hears that the web page was hidden or shown, and that its network has changed, until the returned function is called.
   * Only a request can tell whether the service can be reached, whatever the browser says about its network. Other
   * programs have no such events.
   */
  #observePage(): () => void {
    const page: (Partial<EventTarget> & { visibilityState?: string }) | undefined = Reflect.get(globalThis, "document");
    const window: Partial<EventTarget> = globalThis;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hide = (isHidden: boolean) => {
      this.#isHidden = isHidden;
      this.follow(this.#isWatched, this.#isNeeded);
    };
    const onVisibility = () => {
      const isHidden = page?.visibilityState === "hidden";
      clearTimeout(timer);
      timer = setTimeout(hide, isHidden ? hiddenMsMax : 0, isHidden);
      if (isHidden) this.#list.onHidden?.();
    };
    const onNetwork = () => this.reconnect();
    page?.addEventListener?.("visibilitychange", onVisibility);
    for (const name of ["offline", "online"]) window.addEventListener?.(name, onNetwork);
    if (page?.visibilityState === "hidden") onVisibility();
    return () => {
      clearTimeout(timer);
      this.#isHidden = false;
      page?.removeEventListener?.("visibilitychange", onVisibility);
      for (const name of ["offline", "online"]) window.removeEventListener?.(name, onNetwork);
    };
  }

  /** Ends the current connection, and makes a new one if that is wanted. */
  #connect(isWanted: boolean): void {
    this.#controller?.abort();
    this.#controller = isWanted ? new AbortController() : undefined;
    this.#connectionIs({ kind: isWanted ? "connecting" : "stopped" });
    if (this.#controller) void this.#receive(this.#controller.signal);
  }

  async #receive(signal: AbortSignal): Promise<void> {
    try {
      const options = { ...this.#options, signal, since: this.mirror.token };
      for await (const event of new Source(this.#requester, options).follow()) {
        if (signal.aborted) return;
        this.#heardAtMs = Date.now();
        if ("kind" in event) this.#connectionIs(event);
        else if (event.whole || event.items.length > 0) {
          this.mirror.apply(event);
          this.#list.onChange(event);
        }
      }
    } catch (error) {
      if (!signal.aborted) this.#connectionIs({ kind: "failed", error });
    }
  }

  #connectionIs(next: LiveConnection): void {
    this.#connection = unchanged(this.#connection, next);
    // A connection that is being made has no answer yet, so what the last one said still holds.
    if (next.kind !== "connecting" && next.kind !== "stopped")
      this.#needsCredentials = next.kind === "failed" && hasStatus(next.error, 401);
    this.known = this.connected ?? this.known;
    this.#list.onStatus();
  }
}
