import type { ServerResponse } from 'node:http';
import type { Reader } from '../events/subscribe.ts';
import { messageOf } from './errors.ts';
import { type EventChunk, eventChunk, nextEvent } from './event-chunk.ts';
import {
  cachedResult,
  onAnswer,
  type SerializedResult,
  type SharedSubscription,
  type Waiting,
} from './shared-execution.ts';

/** Some proxies and browsers pass nothing on until something comes; and a connection without a word is closed. */
const COMMENT = eventChunk(':\n\n');
const COMPLETE = eventChunk('event: complete\ndata:\n\n');
const COMMENT_MS = 12_000;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  // A proxy that compressed it would hold events back.
  'content-encoding': 'none',
};

/** A subscription on its way to an event stream, in one object: thousands are open at a time. */
interface EventStream extends Reader<object>, Waiting {
  readonly response: ServerResponse;
  readonly opened: SharedSubscription;
  readonly onFault: (fault: unknown) => void;
  readonly comments: NodeJS.Timeout;
  /** An answer is being executed, or written. */
  isBusy: boolean;
  /** The client has not taken what was written before. */
  isFull: boolean;
}

/**
 * Sends the answers of a subscription as events, past Yoga, which would write each text for each client. A client that does
 * not read is not read ahead for: its updates wait in their own queue, and what that one allows is done there.
 */
export function sendEvents(
  response: ServerResponse,
  opened: SharedSubscription,
  onFault: (fault: unknown) => void,
): void {
  if (response.destroyed) {
    opened.updates.end();
    return;
  }
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  response.flushHeaders();
  const stream: EventStream = {
    ...{ response, opened, onFault },
    ...{ give, ready, resume, fail },
    comments: setInterval(() => comment(stream), COMMENT_MS),
    isBusy: false,
    isFull: false,
  };
  response.once('close', () => leave(stream));
  write(stream, COMMENT);
  opened.updates.reader = stream;
  stream.ready();
}

function comment(stream: EventStream): void {
  if (!stream.isFull) write(stream, COMMENT);
}

/** The way that nearly all go: what was executed for another, to a client that reads. */
function give(this: EventStream, item: object): boolean {
  if (this.isBusy || this.isFull) return false;
  const answer = cachedResult(item);
  if (!answer) return false;
  write(this, answer.chunk);
  return true;
}

function ready(this: EventStream): void {
  if (!this.isBusy) goOn(this, null);
}

function resume(this: EventStream, answer: SerializedResult): void {
  goOn(this, answer);
}

function goOn(stream: EventStream, answered: SerializedResult | null): void {
  stream.isBusy = true;
  try {
    for (let answer = answered ?? next(stream); answer; answer = next(stream)) {
      if (answer instanceof Promise) {
        onAnswer(answer, stream);
        return;
      }
      write(stream, answer.chunk);
    }
  } catch (error) {
    stream.fail(error);
  }
  stream.isBusy = false;
}

function next(stream: EventStream): SerializedResult | Promise<SerializedResult> | null {
  if (stream.isFull) return null;
  const { updates, resultFor: answerTo } = stream.opened;
  const item = updates.take();
  if (item) return answerTo(item);
  if (updates.over) complete(stream);
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
  leave(stream);
}

/** Ends what is open for it, more than once if need be. */
function leave({ opened, comments }: EventStream): void {
  clearInterval(comments);
  opened.updates.end();
}

function write(stream: EventStream, { framed, bytes }: EventChunk): void {
  const { response } = stream;
  if (response.destroyed || response.writableEnded) return;
  // Without a socket, answers to requests before it are still on their way.
  const wire = response.chunkedEncoding ? response.socket : null;
  const hasRoom = wire ? wire.write(framed) : response.write(bytes);
  if (hasRoom) return;
  stream.isFull = true;
  (wire ?? response).once('drain', () => {
    stream.isFull = false;
    stream.ready();
  });
}
