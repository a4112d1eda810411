// Those who have subscribed to a list. They are called whenever there is a new snapshot.

export class Publisher {
  readonly #onCount: () => void;
  readonly #draw: () => boolean;
  readonly #subscriptions = new Set<{ readonly listener: () => void }>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * `onCount` is called when somebody has subscribed or left. `draw` makes the new snapshot, and returns whether it is
   * another one than before.
   */
  constructor(onCount: () => void, draw: () => boolean) {
    this.#onCount = onCount;
    this.#draw = draw;
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

  /**
   * Changes that arrive together are published together, so that the list is not drawn once for each of them. If nobody
   * subscribes, they are published at once: a timer would keep the process alive.
   */
  publishSoon(): void {
    if (this.hasSubscribers) this.#timer ??= setTimeout(() => this.publish(), 0);
    else this.publish();
  }

  publish(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#draw()) return;
    for (const { listener } of [...this.#subscriptions])
      try {
        listener();
      } catch (error) {
        // One subscriber's mistake must not disturb the others, or the list itself.
        console.error(error);
      }
  }
}
