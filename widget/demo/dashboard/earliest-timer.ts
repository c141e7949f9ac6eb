/** A timer that keeps the earliest of the instants that it was set to. */
export class EarliestTimer {
  readonly #work: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #dueAt = Number.POSITIVE_INFINITY;

  constructor(work: () => void) {
    this.#work = work;
  }

  /** Does the work after a time, or when it was to be done already if that is earlier. */
  set(afterMs: number): void {
    const dueAt = performance.now() + afterMs;
    if (dueAt >= this.#dueAt) return;
    this.clear();
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => {
      this.clear();
      this.#work();
    }, afterMs);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#dueAt = Number.POSITIVE_INFINITY;
  }
}
