// Who uses the page in this tab, and the lists that this person sees. With credentials, a list is kept on the device only
// for somebody who has signed in, and shown only to them.
// Why: docs/decisions/0088-the-page-keeps.md

import { basic } from "../../client/basic.ts";
import { type Credentials, jsonText, TodoClient } from "../../client/index.ts";
import { OfflineList } from "../../client/offline.ts";
import { credentialProblem } from "../credential-check.ts";
import { listsPath, type PageSettings } from "../page-settings.ts";
import { type ListAddress, listAt, pageOf } from "./addresses.ts";
import { DeviceStorage } from "./device-storage.ts";

/** A person waits for each request, and sooner wants to know that the service hangs than an app does. */
const timeoutMs = 10_000;

interface OpenList {
  readonly list: OfflineList<string>;
  /** Undefined if nothing can be kept, or must not be kept. */
  readonly storage: DeviceStorage | undefined;
}

export class Session {
  readonly settings: PageSettings;
  readonly #onChange: () => void;
  /** Names what the page keeps. A proxy may serve several services at one origin, each under a path. */
  readonly #place: string;
  /** Undefined if nobody is signed in. A reload forgets them, unless the user wants to stay signed in in this tab. */
  #credentials: Credentials | undefined;
  /** Connects the tabs in which the same person is signed in. */
  #tabs: BroadcastChannel | undefined;
  /** By name: the list that is shown, and those that were shown before in this tab. */
  readonly #lists = new Map<string, OpenList>();
  #shown: OpenList;
  address: ListAddress;

  /** `onChange` is called when another list is to be shown, or somebody has signed in or out. */
  constructor(settings: PageSettings, onChange: () => void) {
    this.settings = settings;
    this.#onChange = onChange;
    this.#place = `todoitems ${new URL(settings.root).pathname}`;
    this.address = listAt(location.href, settings.root);
    const remembered = settings.auth === "off" ? undefined : tabStorage()?.getItem(this.#place);
    if (typeof remembered === "string") this.#credentials = JSON.parse(remembered) as Credentials;
    this.#joinTabs();
    this.#shown = this.#openList();
  }

  /**
   * Somebody may have signed out in another tab while this one was asleep: then what was kept for them is gone. If the
   * browser cannot say, the page is shown all the same.
   */
  async start(): Promise<void> {
    const { storage } = this.#shown;
    if (this.#credentials && storage && !(await storage.exists().catch(() => true))) await this.#leave();
    else this.#onChange();
    await this.#sendAll();
  }

  /** Opens all lists of which the device keeps edits, so that these are sent without a visit to each list. */
  async #sendAll(): Promise<void> {
    const shown = this.#shown;
    const pages = (await shown.storage?.lists("outbox").catch(() => [])) ?? [];
    // Somebody else may have signed in meanwhile.
    if (shown === this.#shown)
      for (const page of pages) void this.#openList(listAt(page, this.settings.root)).list.ready;
  }

  get username(): string | undefined {
    return this.#credentials?.username;
  }

  get list(): OfflineList<string> {
    return this.#shown.list;
  }

  /** True if unsent edits of the list that is shown survive a reload. */
  get isKept(): boolean {
    return isKept(this.#shown);
  }

  /** True if no unsent edit would be lost with this tab. */
  get isSafe(): boolean {
    return [...this.#lists.values()].every((open) => isKept(open) || open.list.getSnapshot().pending.length === 0);
  }

  /** The names of the lists that have items. */
  async listNames(): Promise<string[]> {
    const headers = new Headers(this.#credentials && { Authorization: basic(this.#credentials) });
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(this.settings.root + listsPath, { headers, credentials: "omit", signal });
    if (!response.ok) throw new Error(`The service returned ${response.status}.`);
    return ((await response.json()) as { readonly name: string }[]).map(({ name }) => name);
  }

  /** The names of the lists that can be shown without the service. */
  async keptNames(): Promise<string[]> {
    const pages = (await this.#shown.storage?.lists("copy").catch(() => [])) ?? [];
    return pages.map((page) => listAt(page, this.settings.root).name);
  }

  goTo(name: string): void {
    if (name === this.address.name || !mayLeaveList()) return;
    history.pushState(null, "", pageOf(name, this.settings.root));
    this.#showList();
  }

  /** The user has gone back or forward in the history of this tab. */
  followHistory(): void {
    if (listAt(location.href, this.settings.root).name === this.address.name) return;
    if (mayLeaveList()) this.#showList();
    else history.pushState(null, "", this.address.list);
  }

  /**
   * Shows the list that the address of the page now names. The one before stays open, and sends its edits. It closes its
   * connection by itself when there are none.
   */
  #showList(): void {
    this.address = listAt(location.href, this.settings.root);
    this.#shown = this.#openList();
    this.#onChange();
  }

  /** Returns why the sign-in failed. */
  async signIn(given: Credentials, stays: boolean): Promise<string | undefined> {
    const problem = await credentialProblem(this.#connect(() => given));
    if (problem !== undefined) return problem;
    const isSameUser = this.username === given.username;
    this.#credentials = given;
    if (stays) tabStorage()?.setItem(this.#place, JSON.stringify(given));
    else tabStorage()?.removeItem(this.#place);
    const lists = [...this.#lists.values()].map(({ list }) => list);
    for (const list of lists) void list.retry();
    // Edits that somebody has made before signing in are sent by the list in which they were made.
    if (!isSameUser)
      void Promise.all(lists.map(sent)).then(async () => {
        if (this.#credentials === given) await this.#startAgain();
      });
    this.#onChange();
    return undefined;
  }

  /** Whether signing out would delete drafts, or edits that the service does not have, of any list. */
  async hasUnsentEdits(): Promise<boolean> {
    if (hasDraft()) return true;
    const { list, storage } = this.#shown;
    await list.ready;
    if ([...this.#lists.values()].some((open) => open.list.getSnapshot().pending.length > 0)) return true;
    const isReadable = list.getSnapshot().status.storageError === undefined;
    return isReadable && storage !== undefined && (await storage.lists("outbox")).length > 0;
  }

  /** Forgets everything that is kept for this user, in all lists, and signs out the other tabs, too. */
  async signOut(): Promise<void> {
    const { storage } = this.#shown;
    this.#tabs?.postMessage("signed out");
    await this.#leave();
    await storage?.delete();
  }

  async #leave(): Promise<void> {
    tabStorage()?.removeItem(this.#place);
    this.#credentials = undefined;
    await this.#startAgain();
  }

  async #startAgain(): Promise<void> {
    // The earlier lists send nothing from here on, so they never use the credentials of somebody else.
    const closed = [...this.#lists.values()].map(({ list }) => list.close());
    this.#lists.clear();
    this.#joinTabs();
    this.#shown = this.#openList();
    this.#onChange();
    await Promise.all(closed);
    await this.#sendAll();
  }

  /** Names what is kept for this user. */
  get #owner(): string {
    return this.username === undefined ? this.#place : `${this.#place} ${this.username}`;
  }

  #joinTabs(): void {
    this.#tabs?.close();
    this.#tabs = this.username === undefined ? undefined : new BroadcastChannel(this.#owner);
    this.#tabs?.addEventListener("message", () => void this.#leave());
  }

  #openList(address = this.address): OpenList {
    const { username } = this;
    const known = this.#lists.get(address.name);
    if (known) return known;
    const isOwned = this.settings.auth === "off" || username !== undefined;
    const storage = isSecureContext && isOwned ? new DeviceStorage(this.#owner) : undefined;
    const list = new OfflineList(
      this.#connect(() => this.#credentials, address),
      { name: username ?? "", storage },
    );
    const opened = { list, storage };
    this.#lists.set(address.name, opened);
    return opened;
  }

  #connect(credentials: () => Credentials | undefined, address = this.address): TodoClient<string> {
    // Pass the address of the list, not of the page. The client removes /api/ from the end of an address. That would be
    // wrong if the page itself is served under a path that ends with /api/.
    return new TodoClient(address.items, {
      codec: jsonText,
      form: this.settings.form,
      // The offline list tries again by itself, and meanwhile the page says that the service is away.
      retry: { limit: 0 },
      timeoutMs,
      credentials,
    });
  }
}

/** True while there is something that is lost when this list is left: typed text, or what the device has refused. */
export function hasDraft(): boolean {
  return document.querySelector("[data-draft=true]") !== null;
}

function mayLeaveList(): boolean {
  return !hasDraft() || confirm("Something here is not saved yet. Leave this list without it?");
}

function isKept({ list, storage }: OpenList): boolean {
  const { kept, storageError } = list.getSnapshot().status;
  return kept && storageError === undefined && storage?.isRefused === false;
}

/** Resolves when no edit of the list waits. Until then, the list stays connected. */
function sent(list: OfflineList<string>): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (list.getSnapshot().pending.length > 0) return;
      unsubscribe();
      resolve();
    };
    const unsubscribe = list.subscribe(check);
    check();
  });
}

/** What a browser keeps for this tab alone. Undefined if it forbids that. */
function tabStorage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}
