import type { ExecutionResult } from '../operations.ts';
import { post } from '../request.ts';
import type { Cursor, FollowEnd, FollowOptions } from './transport.ts';

/** A proxy that holds a stream back until it ends shows nothing, not even a comment. */
const OPEN_MS = 5_000;
/** The server writes a comment every 12 s or so; after this long without a byte the connection is dead. */
const SILENCE_MS = 45_000;

/**
 * Follows over GraphQL-over-SSE, distinct connections mode. By fetch and not EventSource: that one sends no
 * Authorization header, and a token does not belong into an address.
 */
export async function followStream(options: FollowOptions): Promise<FollowEnd> {
  const { signal, onOpen, onUpdate } = options;
  const connection = new AbortController();
  const stop = () => connection.abort();
  let silence = setTimeout(stop, OPEN_MS);
  try {
    const response = await post(
      { ...options, signal: AbortSignal.any([signal, connection.signal]) },
      'text/event-stream',
    );
    if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) {
      const result = (await response.json().catch(() => ({}))) as ExecutionResult<never>;
      return result.errors ?? [{ message: 'no stream', extensions: { code: response.status } }];
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (!text) onOpen();
      clearTimeout(silence);
      silence = setTimeout(stop, SILENCE_MS);
      const blocks = (text + value).split(/\r?\n\r?\n/);
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        // `complete` and comments have no data; after the former the server ends the stream.
        const json = /^data: ?(.+)/m.exec(block)?.[1];
        if (!json) continue;
        const { data, errors } = JSON.parse(json);
        if (errors) return errors;
        onUpdate(Object.values(data)[0] as Cursor);
      }
    }
  } catch {
    return;
  } finally {
    clearTimeout(silence);
    stop();
  }
}
