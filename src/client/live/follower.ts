// Follows the service while somebody wants that: it opens and closes the connection, obeys the events of the web page,
// and knows the status of the connection. It holds no items, but hands on what has changed.

import { hasStatus } from "../errors.ts";
import type { Requester } from "../requester.ts";
import { unchanged } from "./mirror.ts";
import { followList, type ListChange, type WatchOptions, type WatchState } from "./watch.ts";

/** What is known about the connection. The kinds `live`, `polling` and `lost` come from `watch`. */
export type LiveConnection =
  | WatchState
  /** Nothing is received, because nobody is subscribed or the page is hidden. */
  | { readonly kind: "stopped" }
  /**
   * The connection is being made or checked: somebody has subscribed or called `reconnect`, the browser has said that it
   * is offline or online, or a write of an `OfflineList` has failed or comes after a long silence.
   */
  | { readonly kind: "connecting" }
  /** An error that waiting cannot fix, such as wrong credentials. Call `reconnect` after you have fixed the cause. */
  | { readonly kind: "failed"; readonly error: unknown };

export interface ConnectionStatus {
  /** While the connection is lost, the items stay as they were. */
  readonly connection: LiveConnection;
  /** True if the service stores no changes. */
  readonly readOnly: boolean;
  /** True if the server refuses the credentials, or wants some. Call `reconnect` when there are new ones. */
  readonly needsCredentials: boolean;
}

/** What a follower needs from its list. */
interface Followed {
  /** The token of the state that the list has. The next connection continues from there. */
  since(): string | undefined;
  onChange(change: ListChange): void;
  onStatus(): void;
  /** The page was hidden a moment ago, and may soon be closed. */
  onHidden?(): void;
}

export const firstStatus: ConnectionStatus = {
  connection: { kind: "stopped" },
  readOnly: false,
  needsCredentials: false,
};

/** How long a page may be hidden before it closes its feed: a browser has six connections to a host over HTTP/1.1. */
const hiddenMsMax = 2_000;

export class Follower {
  readonly #requester: Requester<unknown>;
  readonly #options: Pick<WatchOptions, "pollMs">;
  readonly #list: Followed;
  /** Ends the current connection, if there is one. */
  #controller: AbortController | undefined;
  #isWatched = false;
  #isNeeded = false;
  #isHidden = false;
  #leavePage: (() => void) | undefined;
  #status = firstStatus;
  #heardAtMs = 0;

  constructor(requester: Requester<unknown>, options: Pick<WatchOptions, "pollMs">, list: Followed) {
    this.#requester = requester;
    this.#options = options;
    this.#list = list;
  }

  get status(): ConnectionStatus {
    return this.#status;
  }

  /** The connection, if it is made. Then it is known which store answers. */
  get connected(): Extract<WatchState, { readonly readOnly: boolean }> | undefined {
    const { connection } = this.#status;
    return connection.kind === "live" || connection.kind === "polling" ? connection : undefined;
  }

  /** How long the change feed has been silent. */
  get silentMs(): number {
    return Date.now() - this.#heardAtMs;
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
    if (isWanted && !this.#controller) this.#start();
    else if (!isWanted && this.#controller) this.#stop(this.#controller);
  }

  /** Connects again now, instead of waiting for the next attempt. Does nothing while it is stopped. */
  reconnect(): void {
    if (!this.#controller) return;
    this.#controller.abort();
    this.#start();
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

  #start(): void {
    this.#controller = new AbortController();
    this.#connectionIs({ kind: "connecting" });
    void this.#receive(this.#controller.signal);
  }

  #stop(controller: AbortController): void {
    controller.abort();
    this.#controller = undefined;
    this.#connectionIs({ kind: "stopped" });
  }

  async #receive(signal: AbortSignal): Promise<void> {
    const onState = (connection: WatchState) => {
      if (!signal.aborted) this.#connectionIs(connection);
    };
    try {
      const onSign = () => {
        this.#heardAtMs = Date.now();
      };
      const options = { ...this.#options, signal, onState, onSign, since: this.#list.since() };
      for await (const change of followList(this.#requester, options)) {
        if (signal.aborted) return;
        this.#list.onChange(change);
      }
    } catch (error) {
      if (!signal.aborted) this.#connectionIs({ kind: "failed", error });
    }
  }

  #connectionIs(connection: LiveConnection): void {
    const readOnly = "readOnly" in connection ? connection.readOnly : this.#status.readOnly;
    const needsCredentials = connection.kind === "failed" && hasStatus(connection.error, 401);
    this.#status = unchanged(this.#status, { connection, readOnly, needsCredentials });
    this.#list.onStatus();
  }
}
