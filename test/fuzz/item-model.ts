// The simplest service that could be right: a Map. Tests send the same operations to it and to the real one.

interface ModelItem {
  readonly json: string;
  readonly etag: string;
}

export class ItemModel {
  /**
   * The items in order of creation. The keys are IDs in lower case, because IDs that differ only in letter case are the
   * same.
   */
  readonly #items = new Map<string, ModelItem>();

  get(id: string): ModelItem | undefined {
    return this.#items.get(id.toLowerCase());
  }

  /** Stores an item with the ETag in the service's answer. An item that is already there keeps its place. */
  set(id: string, json: string, answer: Response): void {
    this.#items.set(id.toLowerCase(), { json, etag: answer.headers.get("etag") ?? "" });
  }

  delete(id: string): void {
    this.#items.delete(id.toLowerCase());
  }

  get ids(): string[] {
    return [...this.#items.keys()];
  }

  list(): string {
    return `[${[...this.#items.values()].map(({ json }) => json).join(",")}]`;
  }
}
