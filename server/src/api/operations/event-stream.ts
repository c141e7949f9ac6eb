import type { ServerResponse } from 'node:http';
import type { Reader } from '../../state/events/subscription.ts';
import { messageOf } from '../graphql/errors.ts';
import { type EventChunk, eventChunk, nextEvent } from './event-chunk.ts';
import { cachedResult, onResult, type ResultListener, type SharedSubscription } from './shared-execution.ts';
import type { SerializedResult } from './shared-result.ts';
import { cutSoon, tooMuchUnread } from './unread.ts';

/** A comment for proxies and browsers: some delay a response until its first bytes, and many close a silent connection. */
const COMMENT = eventChunk(':\n\n');
const COMPLETE = eventChunk('event: complete\ndata:\n\n');
const COMMENT_MS = 12_000;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  // A proxy that compresses the stream delays events.
  'content-encoding': 'none',
};

/** A subscription whose results are sent as one event stream. One object, because thousands are open at a time. */
interface EventStream extends Reader<object>, ResultListener {
  readonly response: ServerResponse;
  readonly subscription: SharedSubscription;
  readonly onFault: (fault: unknown) => void;
  readonly commentTimer: NodeJS.Timeout;
  /** Whether a result is being executed, or results are being written. */
  isBusy: boolean;
  /** Whether bytes wait to be sent, because the client does not read. */
  isFull: boolean;
  /** The result that the client has not read to its end; null if there is none. */
  unread: SerializedResult | null;
}

/**
 * Sends the results of a subscription as events, without Yoga, which would serialize each for each client. While a client
 * does not read, its updates wait in the subscription's own queue, which has its limit.
 */
export function sendEvents(
  response: ServerResponse,
  subscription: SharedSubscription,
  onFault: (fault: unknown) => void,
): void {
  if (response.destroyed) {
    subscription.updates.end();
    return;
  }
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  response.flushHeaders();
  const stream: EventStream = {
    response,
    subscription,
    onFault,
    trySend,
    ready,
    resume,
    fail,
    commentTimer: setInterval(() => sendComment(stream), COMMENT_MS),
    isBusy: false,
    isFull: false,
    unread: null,
  };
  // The response holds its request while the stream is open, and the request would hold its body and headers.
  Object.assign(response.req, { body: undefined, rawHeaders: [] });
  response.once('close', () => {
    detach(stream);
    settleUnread(stream);
  });
  write(stream, COMMENT);
  subscription.updates.reader = stream;
  stream.ready();
}

function sendComment(stream: EventStream): void {
  if (!stream.isFull) write(stream, COMMENT);
}

/** Sends an update whose result is cached, to a client that reads: the case of nearly all updates. */
function trySend(this: EventStream, item: object): boolean {
  if (this.isBusy || this.isFull) return false;
  const result = cachedResult(item);
  if (!result) return false;
  write(this, result.chunk, result);
  return true;
}

function ready(this: EventStream): void {
  if (!this.isBusy) drain(this, null);
}

function resume(this: EventStream, result: SerializedResult): void {
  drain(this, result);
}

/** Writes `result`, then results from the queue until one is not ready or the client does not read. */
function drain(stream: EventStream, result: SerializedResult | null): void {
  stream.isBusy = true;
  try {
    for (let next = result ?? takeNext(stream); next; next = takeNext(stream)) {
      if (next instanceof Promise) {
        onResult(next, stream);
        return;
      }
      write(stream, next.chunk, next);
    }
  } catch (error) {
    stream.fail(error);
  }
  stream.isBusy = false;
}

function takeNext(stream: EventStream): SerializedResult | Promise<SerializedResult> | null {
  const { updates, resultFor } = stream.subscription;
  if (stream.isFull) {
    updates.park();
    return null;
  }
  const item = updates.take();
  if (item) return resultFor(item);
  if (updates.isOver) complete(stream);
  return null;
}

function fail(this: EventStream, error: unknown): void {
  const message = messageOf(error, this.onFault);
  write(this, nextEvent(JSON.stringify({ errors: [message] })));
  complete(this);
}

function complete(stream: EventStream): void {
  const { response } = stream;
  write(stream, COMPLETE);
  if (!response.destroyed && !response.writableEnded) response.end();
  detach(stream);
}

/** Releases what the stream holds; may be called more than once. */
function detach({ subscription, commentTimer }: EventStream): void {
  clearInterval(commentTimer);
  subscription.updates.end();
}

function write(
  stream: EventStream,
  { framed, bytes }: EventChunk,
  result: SerializedResult | null = null,
): void {
  const { response } = stream;
  if (response.destroyed || response.writableEnded) return;
  // The response has no socket while responses to earlier requests of the connection are being sent.
  const wire = response.chunkedEncoding ? response.socket : null;
  const hasRoom = wire ? wire.write(framed) : response.write(bytes);
  if (hasRoom) return;
  stream.isFull = true;
  (wire ?? response).once('drain', () => {
    stream.isFull = false;
    settleUnread(stream);
    stream.ready();
  });
  if (!result) return;
  stream.unread = result;
  if (result.hold()) return;
  stream.fail(tooMuchUnread());
  if (response.socket) cutSoon(response.socket);
}

function settleUnread(stream: EventStream): void {
  stream.unread?.sent();
  stream.unread = null;
}
