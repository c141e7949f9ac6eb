// Answers of the fake servers inside the galleries' pages.

const EVENT_STREAM = { headers: { 'content-type': 'text/event-stream' } };

export function jsonResponse(body: object, status = 200): Promise<Response> {
  return Promise.resolve(Response.json(body, { status }));
}

/** A response that never comes and ignores an abort, so that the element stays in its state. */
export function neverRespond(): Promise<Response> {
  return new Promise(() => undefined);
}

/**
 * A stream of updates, which stays open. `drop` ends it after the first update, or before one; `silent` sends nothing after it, not
 * even a comment.
 */
export function streamResponse(
  update: object | undefined,
  behaviour: 'drop' | 'silent' | undefined,
  signal?: AbortSignal | null,
): Promise<Response> {
  const bytes = new TextEncoder();
  let heartbeat: ReturnType<typeof setInterval>;
  const stream = new ReadableStream({
    start(controller) {
      const first = update ? `event: next\ndata: ${JSON.stringify({ data: { update } })}\n\n` : ':\n\n';
      controller.enqueue(bytes.encode(first));
      if (behaviour === 'drop') return controller.close();
      if (behaviour === 'silent') return;
      // The element drops a stream without a byte for 45 s.
      heartbeat = setInterval(() => controller.enqueue(bytes.encode(':\n\n')), 12_000);
      signal?.addEventListener('abort', () => {
        clearInterval(heartbeat);
        controller.error(signal.reason);
      });
    },
    cancel: () => clearInterval(heartbeat),
  });
  return Promise.resolve(new Response(stream, EVENT_STREAM));
}

/** Has the page itself answer the requests to an address. The shop's pages share the origin, and must not find what is shown here in its storage. */
export function answerRequests(
  isOwn: (address: string) => boolean,
  respond: (address: string, init: RequestInit) => Promise<Response>,
): void {
  const realFetch = globalThis.fetch;
  globalThis.fetch = (input, init) =>
    isOwn(String(input)) ? respond(String(input), init ?? {}) : realFetch(input, init);
  for (const name of ['sessionStorage', 'localStorage'])
    Object.defineProperty(globalThis, name, {
      get: () => {
        throw new DOMException('The gallery keeps nothing', 'SecurityError');
      },
    });
}

/** Stops both clocks of the page: what is shown stays as it is. */
export function stopClocks(): void {
  performance.now = () => 0;
  const openedAt = Date.now();
  Date.now = () => openedAt;
}
