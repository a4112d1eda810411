// Those who have subscribed to a list. They are called whenever there is a new snapshot.

export class Publisher {
  readonly #onCount: () => void;
  readonly #subscriptions = new Set<{ readonly listener: () => void }>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `onCount` is called when somebody has subscribed or left. */
  constructor(onCount: () => void) {
    this.#onCount = onCount;
  }

  get hasSubscribers(): boolean {
    return this.#subscriptions.size > 0;
  }

  subscribe(listener: () => void): () => void {
    // Each subscription is a separate object, because the same function may subscribe twice.
    const subscription = { listener };
    this.#subscriptions.add(subscription);
    this.#onCount();
    return () => {
      this.#subscriptions.delete(subscription);
      // User interfaces often unsubscribe and subscribe again at once. That should not close the connection, so wait a
      // moment before checking whether anybody is still subscribed.
      queueMicrotask(this.#onCount);
    };
  }

  /** Changes that arrive together are published together, so that the list is not drawn once for each of them. */
  publishSoon(publish: () => void): void {
    this.#timer ??= setTimeout(publish, 0);
  }

  publish(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { listener } of [...this.#subscriptions]) listener();
  }
}
