/** Waits; an abort ends the wait early. Nothing else may wait on the signal, whose one handler it takes. */
export function pause(ms: number, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal.onabort = resolve;
  });
}
