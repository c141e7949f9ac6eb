import type { ExecutionResult } from '../operations.ts';
import { post } from '../request.ts';
import type { Cursor, FollowEnd, FollowOptions } from './transport.ts';

/** The time for the first byte: a proxy that buffers a stream until it ends passes nothing on, not even a comment. */
const OPEN_MS = 5_000;
/**
 * The time without a byte after which a connection counts as lost: the server writes a comment about every 12
 * s.
 */
const SILENCE_MS = 45_000;

/**
 * Follows over GraphQL over SSE in distinct connections mode. It uses fetch, because EventSource sends no
 * Authorization header, and a token does not belong in an address.
 */
export async function followStream(options: FollowOptions): Promise<FollowEnd> {
  const { signal, onOpen, onUpdate } = options;
  const connection = new AbortController();
  const stop = () => connection.abort();
  let watchdog = setTimeout(stop, OPEN_MS);
  try {
    const response = await post(
      { ...options, signal: AbortSignal.any([signal, connection.signal]) },
      'text/event-stream',
    );
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      // A response without errors is a proxy's page, whatever its status. Another transport may get past the
      // proxy.
      return ((await response.json()) as ExecutionResult<never>).errors;
    }
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (!text) onOpen();
      clearTimeout(watchdog);
      watchdog = setTimeout(stop, SILENCE_MS);
      const blocks = (text + value).split(/\r?\n\r?\n/);
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        // `complete` and comments have no data; after `complete` the server ends the stream. The pattern is
        // not `.`, because a text may contain U+2028, which does not end a line of an event stream.
        const json = /data:([^\n]+)/.exec(block)?.[1];
        if (!json) continue;
        const { data, errors } = JSON.parse(json);
        if (errors) return errors;
        onUpdate(Object.values(data)[0] as Cursor);
      }
    }
  } catch {
    return;
  } finally {
    clearTimeout(watchdog);
    stop();
  }
}
