import { toJson } from '../to-json.ts';
import {
  judgeErrors,
  type LiveError,
  type LiveRequest,
  type LiveResult,
  type LiveSink,
  UnfollowableError,
} from './protocol.ts';
import { noteAnswer, type Tokens } from './tokens.ts';

export interface EventStreamOptions {
  /** The address of `/graphql`. */
  endpoint: string | URL;
  tokens: Tokens;
  fetch?: typeof fetch | undefined;
}

/** The time for the first byte, and the time without one after which a stream counts as lost. */
const OPEN_MS = 15_000;
const SILENCE_MS = 45_000;

/**
 * A client of GraphQL over SSE in distinct connections mode, of one operation a connection. Where `next` returns a promise
 * the stream is not read until it is resolved. Every end without `complete` is an error.
 */
export function eventStreamClient(options: EventStreamOptions) {
  return {
    subscribe(request: LiveRequest, sink: LiveSink): () => void {
      const left = new AbortController();
      read(options, request, sink, left).then(
        () => sink.complete(),
        (error: unknown) => left.signal.aborted || sink.error(error),
      );
      return () => left.abort();
    },
  };
}

async function read(
  { endpoint, tokens, fetch: send = fetch }: EventStreamOptions,
  request: LiveRequest,
  sink: LiveSink,
  left: AbortController,
): Promise<void> {
  // AbortSignal.any is not used, because React Native lacks it.
  const lost = new AbortController();
  const leave = () => lost.abort();
  const lose = () => lost.abort(new Error('The connection is silent'));
  left.signal.addEventListener('abort', leave);
  let watchdog = setTimeout(lose, OPEN_MS);
  try {
    if (send === globalThis.fetch) assertStreams(globalThis.Response?.prototype);
    const response = await send(endpoint, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        authorization: await tokens.authorization(),
      },
      body: toJson(request),
      signal: lost.signal,
    });
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) throw await refusal(response);
    const { body } = response;
    if (!body) return assertStreams({});
    noteAnswer(tokens);
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new Error('The stream of events has ended');
      clearTimeout(watchdog);
      const blocks = (text + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        // A text may contain U+2028: it ends a line for `^`, `$` and `.`, but not for JSON and event streams.
        if (/(?:^|\n)event: ?complete\r?(?:\n|$)/.test(block)) return;
        const json = /(?:^|\n)data: ?([^\n]+)/.exec(block)?.[1];
        if (json) await sink.next(JSON.parse(json) as LiveResult);
        if (left.signal.aborted) return;
      }
      watchdog = setTimeout(lose, SILENCE_MS);
    }
  } finally {
    clearTimeout(watchdog);
    left.signal.removeEventListener('abort', leave);
    lost.abort();
  }
}

/** The error of a response that is no stream: the server's errors if they say more than the status. */
async function refusal(response: Response): Promise<unknown> {
  const { errors } = (await response.json().catch(() => ({}))) as { errors?: LiveError[] };
  if (errors?.length && (judgeErrors(errors).verdict !== 'final' || response.status < 500)) return errors;
  return Object.assign(new Error(`The server has answered with ${response.status}`), { response });
}

/**
 * Checks that a response has a body that can be read while it comes. React Native's has none: its promise waits for the end of the
 * response, which a stream of events does not have.
 * @throws UnfollowableError
 */
function assertStreams(response: object | undefined): void {
  if (!response || !('body' in response))
    throw new UnfollowableError(
      'This runtime gives a response only once it has ended, so no event stream can be read: follow over a WebSocket, by @psa/checkout/resume and graphql-ws, or pass a `fetch` that streams, such as that of expo/fetch',
    );
}
