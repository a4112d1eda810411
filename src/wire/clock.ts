// Caches the current time, because connections need it often. They need it only to a tenth of a second. The server
// updates it with `tick`.

export class Clock {
  /** In milliseconds, from an arbitrary starting point. */
  now = 0;
  /** For the Date header. */
  date = "";
  #dateAt = 0;

  constructor() {
    this.tick();
  }

  tick(): void {
    this.now = performance.now();
    const second = Math.floor(Date.now() / 1_000);
    if (second === this.#dateAt) return;
    this.#dateAt = second;
    this.date = new Date(second * 1_000).toUTCString();
  }
}
