/** Waits; an abort ends the wait early. The timer may outlive it, and then does nothing. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
