// Uses the page in a real browser as a person would: looks, clicks and types.

import { expect } from "bun:test";
import { openPage } from "../chromium.ts";
import { eventually } from "../eventually.ts";

export interface SeenItem {
  readonly name: string;
  readonly notes: string;
  readonly done: boolean;
}

/** How the page is shown: the size of the window in CSS pixels, the kind of screen and the colours. */
interface Screen {
  readonly width: number;
  readonly height: number;
  /** A phone has no scroll bars that take room, and a finger for a pointer. */
  readonly isPhone?: boolean;
  readonly colours?: "light" | "dark";
  /** The width and the height of each CSS pixel, in pixels of the screen. */
  readonly scale?: number;
}

/** How long the attempts to click an element may take together, without the waits before each attempt. */
const clickTimeoutMs = 60_000;
const clickAttempts = 4;
const readyList = "main[data-loaded=true], .sign-in";

export class PageDriver {
  readonly view: Bun.WebView;

  private constructor(view: Bun.WebView) {
    this.view = view;
  }

  /**
   * Opens the page of a service and waits for the list or for the sign-in form. `forgets`: the browser first forgets what
   * it has kept for this origin, because the service of an earlier test may have had the same port.
   */
  static open(origin: string, { forgets = false } = {}): Promise<PageDriver> {
    return PageDriver.#openAt(`${origin}/`, readyList, forgets);
  }

  /** Opens the page of a list, at exactly this address. */
  static openList(address: string): Promise<PageDriver> {
    return PageDriver.#openAt(address, readyList);
  }

  /**
   * Opens the reference of a service, the page at /docs. If `hash` is given, opens it at the part that `hash` names.
   */
  static openReference(origin: string, hash = ""): Promise<PageDriver> {
    return PageDriver.#openAt(`${origin}/docs${hash}`, "#errors");
  }

  static async #openAt(address: string, ready: string, forgets = false): Promise<PageDriver> {
    const driver = new PageDriver(await openPage());
    if (forgets)
      await driver.view.cdp("Storage.clearDataForOrigin", { origin: new URL(address).origin, storageTypes: "all" });
    await driver.view.navigate(address);
    await driver.until(`document.querySelector(${JSON.stringify(ready)})`);
    return driver;
  }

  /** Shows the page on another screen. Transitions take no time there, so colours and places are final at once. */
  async show({ width, height, isPhone = false, colours = "light", scale = 1 }: Screen): Promise<void> {
    const size = { width, height, mobile: isPhone, deviceScaleFactor: scale };
    await this.view.cdp("Emulation.setDeviceMetricsOverride", size);
    await this.view.cdp("Emulation.setTouchEmulationEnabled", { enabled: isPhone });
    await this.view.cdp("Emulation.setEmulatedMedia", {
      features: [
        { name: "prefers-color-scheme", value: colours },
        { name: "prefers-reduced-motion", value: "reduce" },
      ],
    });
  }

  /** Returns the value of an expression in the page. */
  async evaluate<Value>(expression: string): Promise<Value> {
    return (await this.view.evaluate(expression)) as Value;
  }

  /** Waits until the page is drawn again. */
  async untilDrawn(): Promise<void> {
    await this.evaluate(
      "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(0))))",
    );
  }

  /** Waits until an expression in the page is true. If it never becomes true, the error contains the page's text. */
  async until(expression: string): Promise<void> {
    try {
      await eventually(async () =>
        expect(await this.evaluate<boolean>(`Promise.resolve(${expression}).then(Boolean)`)).toBe(true),
      );
    } catch (cause) {
      throw new Error(`never true: ${expression}\n${await this.evaluate("document.body.innerText")}`, { cause });
    }
  }

  async untilText(text: string): Promise<void> {
    await this.until(`document.body.innerText.includes(${JSON.stringify(text)})`);
  }

  /** Returns the items that the page has drawn, from top to bottom. */
  items(): Promise<SeenItem[]> {
    return this.evaluate(`[...document.querySelectorAll("li.row")].map((row) => ({
      name: row.querySelector(".name").textContent,
      notes: row.querySelector(".notes")?.textContent ?? "",
      done: row.querySelector(".tick").checked,
    }))`);
  }

  /** Waits until the page has drawn exactly the items with these names, from top to bottom. */
  async untilNames(...names: readonly string[]): Promise<void> {
    const seen = `[...document.querySelectorAll("li.row .name")].map((name) => name.textContent)`;
    await this.until(`JSON.stringify(${seen}) === ${JSON.stringify(JSON.stringify(names))}`);
  }

  /** Clicks a control of the item with this name. */
  clickItem(name: string, control: string): Promise<void> {
    return this.#clickFound(`[...document.querySelectorAll("li.row")]
      .find((row) => row.querySelector(".name").textContent === ${JSON.stringify(name)})
      ?.querySelector('[data-control="${control}"]')`);
  }

  clickButton(text: string): Promise<void> {
    return this.#clickFound(`[...document.querySelectorAll("button")]
      .find((button) => button.textContent.trim() === ${JSON.stringify(text)})`);
  }

  click(selector: string): Promise<void> {
    return this.#clickFound(`document.querySelector(${JSON.stringify(selector)})`);
  }

  /**
   * Scrolls to the element that an expression finds, if necessary, and clicks it. A change of the page in between may
   * move or replace the element, so this is tried a few times. A click that would hit something else is kept from doing
   * anything.
   */
  async #clickFound(found: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const block = attempt === 1 ? "nearest" : "center";
      await this.until(found);
      await this.evaluate(`(${found})?.scrollIntoView({ block: "${block}" })`);
      await this.#untilStill(found);
      await this.evaluate(`(() => {
        const target = ${found};
        window.hasMissed = false;
        const guard = (event) => {
          if (!target || target.contains(event.target)) return;
          window.hasMissed = true;
          event.preventDefault();
          event.stopImmediatePropagation();
        };
        window.addEventListener("click", guard, { capture: true, once: true });
      })()`);
      try {
        await this.view.click('[data-test="target"]', { timeout: clickTimeoutMs / clickAttempts });
        if (!(await this.evaluate("window.hasMissed === true"))) return;
        throw new Error(`the click on ${found} hit something else`);
      } catch (error) {
        if (attempt === clickAttempts) throw error;
      }
    }
  }

  /** Waits until an element has stopped moving, and marks it. A click on an element that still moves would miss it. */
  async #untilStill(found: string): Promise<void> {
    await this.until(`(() => {
      const target = ${found};
      for (const marked of document.querySelectorAll("[data-test]")) if (marked !== target) delete marked.dataset.test;
      if (target) target.dataset.test = "target";
      const place = JSON.stringify(target?.getBoundingClientRect());
      const isStill = place !== undefined && place === window.placeBefore;
      window.placeBefore = place;
      return isStill;
    })()`);
  }

  /** Replaces the text of a field. */
  async fill(selector: string, text: string): Promise<void> {
    await this.click(selector);
    await this.selectAll();
    await this.view.press("Delete");
    await this.view.type(text);
  }

  /** Selects the whole text of the focused field. Ctrl+A would not work: a headless browser ignores it. */
  async selectAll(): Promise<void> {
    await this.evaluate("document.activeElement.select()");
  }

  /** Signs in with the form that is shown. */
  async signIn(username: string, { password = "long enough", stays = false } = {}): Promise<void> {
    await this.fill('[data-control="username"]', username);
    await this.fill('[data-control="password"]', password);
    if (stays) await this.click('[data-control="stay"]');
    await this.click(".sign-in .primary");
  }

  async add(name: string): Promise<void> {
    await this.click('[data-control="composer"]');
    await this.view.type(name);
    await this.view.press("Enter");
  }

  /** Returns the `data-control` of the focused element. If it has none, returns its tag name. */
  focused(): Promise<string> {
    return this.evaluate("document.activeElement.dataset.control ?? document.activeElement.tagName");
  }

  /** Whether the user may leave the page, as far as the page is concerned, without being asked. */
  mayLeave(): Promise<boolean> {
    return this.evaluate("dispatchEvent(new Event('beforeunload', { cancelable: true }))");
  }

  /** From now on, this is the user's answer when the page asks. `asked` has the questions. */
  async answer(isYes: boolean): Promise<void> {
    await this.evaluate(`(() => {
      globalThis.asked ??= [];
      globalThis.confirm = (question) => (asked.push(question), ${isYes});
    })()`);
  }

  /** Clicks "Try now". The page may have tried by itself just before; then the button is gone. */
  async tryNow(): Promise<void> {
    await this.evaluate("document.querySelector('[data-control=line-try-now]')?.click()");
  }

  /** Reloads the page as soon as it does not ask: in a browser without a screen, nobody would answer. */
  async reload(): Promise<void> {
    await eventually(async () => expect(await this.mayLeave()).toBe(true));
    await this.view.reload();
  }

  /** Fails the requests whose addresses match one of these patterns. Without a pattern, none fails. */
  async block(...urls: readonly string[]): Promise<void> {
    await this.view.cdp("Network.enable");
    await this.view.cdp("Network.setBlockedURLs", { urls });
  }

  /** Runs a script in every document that this page opens from now on, before the document's own scripts. */
  async prepare(source: string): Promise<void> {
    await this.view.cdp("Page.enable");
    await this.view.cdp("Page.addScriptToEvaluateOnNewDocument", { source });
  }

  /**
   * Everything that pages of this origin keep in the browser, and what this tab keeps: as JSON, one entry for each
   * value.
   */
  kept(): Promise<string[]> {
    return this.evaluate(`(async () => {
      const done = (request) => new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
      const kept = [localStorage, sessionStorage].flatMap((storage) => Object.entries(storage));
      for (const { name } of await indexedDB.databases()) {
        const opening = indexedDB.open(name);
        // Meanwhile it was deleted.
        opening.onupgradeneeded = () => opening.transaction.abort();
        const database = await done(opening).catch(() => undefined);
        if (!database) continue;
        kept.push(["database", name]);
        for (const store of database.objectStoreNames) {
          const values = database.transaction(store).objectStore(store);
          const [keys, all] = [done(values.getAllKeys()), done(values.getAll())];
          for (const [index, key] of (await keys).entries()) kept.push([key, (await all)[index]]);
        }
        database.close();
      }
      for (const name of globalThis.caches ? await caches.keys() : [])
        for (const { url } of await (await caches.open(name)).keys()) kept.push([name, url]);
      return kept.map((entry) => JSON.stringify(entry));
    })()`);
  }

  /** Waits until the copy of a list on this device contains a text. */
  async untilKept(text: string): Promise<void> {
    await eventually(async () => {
      const copies = (await this.kept()).filter((entry) => entry.includes("/copy"));
      expect(copies.join()).toContain(text);
    });
  }

  close(): void {
    this.view.close();
  }
}
