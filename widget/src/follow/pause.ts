/**
 * Waits; an abort ends the wait early. It uses the signal's only handler, so nothing else may wait on the
 * signal.
 */
export function pause(ms: number, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal.onabort = resolve;
  });
}
