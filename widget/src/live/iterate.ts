import type { LiveRequest, LiveResult, Subscribe } from './protocol.ts';

/**
 * Iterates over the results of a subscription. The client is asked for the next result only when the loop has
 * taken the one before, if the client waits for `next`. Leaving the loop ends the subscription.
 */
export async function* iterate<Result = LiveResult>(
  subscribe: Subscribe,
  request: LiveRequest,
  signal?: AbortSignal,
): AsyncGenerator<Result, void, void> {
  const waiting: { result: LiveResult; taken: () => void }[] = [];
  let end: { error?: unknown } | null = null;
  let wake: () => void = () => undefined;
  const dispose = subscribe(request, {
    next: (result) =>
      new Promise<void>((taken) => {
        waiting.push({ result, taken });
        wake();
      }),
    error(error) {
      end = { error };
      wake();
    },
    complete() {
      end = {};
      wake();
    },
  });
  signal?.addEventListener('abort', dispose);
  if (signal?.aborted) dispose();
  try {
    for (;;) {
      const next = waiting.shift();
      if (next) {
        yield next.result as Result;
        next.taken();
        continue;
      }
      if (end) break;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    signal?.removeEventListener('abort', dispose);
    dispose();
    for (const { taken } of waiting) taken();
  }
  const { error } = end as { error?: unknown };
  if (error !== undefined) throw error;
}
