/**
 * Counts down the time until a payment expires, on the monotonic clock: the device's date may be wrong, and may be set while the payer pays.
 *
 * @param isRunning returns whether there is anything to count down to
 * @param onTick called at each full second
 * @param onOver called when no time is left, and then at growing intervals for as long as it runs
 */
export function createCountdown(isRunning: () => boolean, onTick: () => void, onOver: () => void) {
  let deadlineMs: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let readsAfterDeadline = 0;

  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const tick = (): void => {
    stop();
    if (deadlineMs === undefined || !isRunning()) return;
    const leftMs = deadlineMs - performance.now();
    let nextMs = leftMs % 1000 || 1000;
    if (leftMs <= 0) {
      // At 0:00 the server decides; it is polled at growing intervals until it has.
      nextMs = Math.min(30_000, 2_000 * 2 ** readsAfterDeadline++);
      onOver();
    }
    timer = setTimeout(tick, nextMs);
    onTick();
  };
  return {
    stop,
    tick,
    /** Whole seconds until the payment expires; undefined before the server's first answer. */
    seconds(): number | undefined {
      if (deadlineMs === undefined) return undefined;
      return Math.max(0, Math.ceil((deadlineMs - performance.now()) / 1000));
    },
    /** Sets the time that is left, by the server's clock; undefined for another payment. */
    set(seconds?: number): void {
      deadlineMs = seconds === undefined ? undefined : performance.now() + seconds * 1000;
      if (seconds) readsAfterDeadline = 0;
      // If no time is left, a running timer is the next read, and stays.
      if (seconds || !timer) tick();
    },
  };
}
