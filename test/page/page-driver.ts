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
  /** A phone has no scroll bars that take room. */
  readonly isPhone?: boolean;
  readonly colours?: "light" | "dark";
  /** The width and the height of each CSS pixel, in pixels of the screen. */
  readonly scale?: number;
}

/** How long the attempts to click an element may take together, without the waits before each attempt. */
const clickTimeoutMs = 60_000;
const clickAttempts = 4;

export class PageDriver {
  readonly view: Bun.WebView;

  private constructor(view: Bun.WebView) {
    this.view = view;
  }

  /** Opens the page of a service and waits for the list or for the sign-in form. */
  static open(origin: string): Promise<PageDriver> {
    return PageDriver.#openAt(`${origin}/`, "main[data-loaded=true], .sign-in");
  }

  /**
   * Opens the reference of a service, the page at /docs. If `hash` is given, opens it at the part that `hash` names.
   */
  static openReference(origin: string, hash = ""): Promise<PageDriver> {
    return PageDriver.#openAt(`${origin}/docs${hash}`, "#errors");
  }

  static async #openAt(address: string, ready: string): Promise<PageDriver> {
    const driver = new PageDriver(await openPage());
    await driver.view.navigate(address);
    await driver.until(`document.querySelector(${JSON.stringify(ready)})`);
    return driver;
  }

  /** Shows the page on another screen. Transitions take no time there, so colours and places are final at once. */
  async show({ width, height, isPhone = false, colours = "light", scale = 1 }: Screen): Promise<void> {
    const size = { width, height, mobile: isPhone, deviceScaleFactor: scale };
    await this.view.cdp("Emulation.setDeviceMetricsOverride", size);
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
  async clickItem(name: string, control: string): Promise<void> {
    await this.evaluate(`document.querySelectorAll("[data-test]").forEach((marked) => delete marked.dataset.test)`);
    await this.until(`(() => {
      const row = [...document.querySelectorAll("li.row")].find((row) => row.querySelector(".name").textContent === ${JSON.stringify(name)});
      const target = row?.querySelector('[data-control="${control}"]');
      if (target) target.dataset.test = "target";
      return target;
    })()`);
    await this.click('[data-test="target"]');
  }

  /**
   * Scrolls to an element, if necessary, and clicks it. A change of the page in between may move the element under
   * another one, so this is tried a few times.
   */
  async click(selector: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const block = attempt === 1 ? "nearest" : "center";
      await this.until(`document.querySelector(${JSON.stringify(selector)})`);
      await this.evaluate(`document.querySelector(${JSON.stringify(selector)})?.scrollIntoView({ block: "${block}" })`);
      await this.#untilStill(selector);
      try {
        await this.view.click(selector, { timeout: clickTimeoutMs / clickAttempts });
        return;
      } catch (error) {
        if (attempt === clickAttempts) throw error;
      }
    }
  }

  /** Waits until an element has stopped moving. A click on an element that still moves would miss it. */
  async #untilStill(selector: string): Promise<void> {
    await this.until(`(() => {
      const place = JSON.stringify(document.querySelector(${JSON.stringify(selector)})?.getBoundingClientRect());
      const isStill = place !== undefined && place === window.placeBefore;
      window.placeBefore = place;
      return isStill;
    })()`);
  }

  async clickButton(text: string): Promise<void> {
    await this.evaluate(`document.querySelectorAll("[data-test]").forEach((marked) => delete marked.dataset.test)`);
    await this.until(`(() => {
      const button = [...document.querySelectorAll("button")].find((button) => button.textContent.trim() === ${JSON.stringify(text)});
      if (button) button.dataset.test = "target";
      return button;
    })()`);
    await this.click('[data-test="target"]');
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

  async add(name: string): Promise<void> {
    await this.click('[data-control="composer"]');
    await this.view.type(name);
    await this.view.press("Enter");
  }

  /** Returns the `data-control` of the focused element. If it has none, returns its tag name. */
  focused(): Promise<string> {
    return this.evaluate("document.activeElement.dataset.control ?? document.activeElement.tagName");
  }

  close(): void {
    this.view.close();
  }
}
