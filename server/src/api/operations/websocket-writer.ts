import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Reader } from '../../state/events/subscription.ts';
import { textFrame, textFrameHead } from './frame.ts';
import { cachedResult, onResult, type ResultListener, type SharedSubscription } from './shared-execution.ts';
import type { SerializedResult } from './shared-result.ts';
import { cutSoon, tooMuchUnread } from './unread.ts';

/**
 * The number of unsent bytes from which a socket takes no updates: they wait in the subscription's own queue, which has its
 * limit.
 */
const MAX_UNSENT_BYTES = 64_000;
/**
 * The size from which a result is not copied into a separate frame, so that many slow sockets hold it once. For a
 * client that does not read no result is copied.
 */
const MAX_COPIED_BYTES = MAX_UNSENT_BYTES / 4;

/** Writes everything that is sent to one socket. */
export interface SocketWriter {
  readonly socket: WebSocket;
  /** The stream under `socket`. Nothing is compressed, so frames of both leave in the order in which they are written. */
  readonly wire: Duplex;
  /** Queues a subscription until the client reads, after those that wait already. */
  enqueue(sending: OutgoingSubscription): void;
  /** Ends the wait of a subscription. */
  dequeue(sending: OutgoingSubscription): void;
  /** Called when bytes have left. */
  onSent(): void;
  /** Resolves when the bytes have left for the kernel, so that the library does not read ahead for a client that does not. */
  send(text: string): Promise<void>;
}

/** `onSent` is called when bytes have left that may have waited. */
export function createSocketWriter(socket: WebSocket, wire: Duplex, onSent: () => void): SocketWriter {
  /** The queued subscriptions; null for most sockets, whose clients read. */
  let waiting: Set<OutgoingSubscription> | null = null;

  function resumeWaiting(): void {
    onSent();
    for (const sending of waiting ?? []) {
      if (socket.bufferedAmount >= MAX_UNSENT_BYTES) return;
      waiting?.delete(sending);
      sending.ready();
    }
  }

  return {
    socket,
    wire,
    enqueue(sending) {
      waiting ??= new Set();
      waiting.add(sending);
    },
    dequeue: (sending) => waiting?.delete(sending),
    onSent: resumeWaiting,
    send: (text) =>
      new Promise((resolve, reject) => {
        if (socket.readyState !== socket.OPEN) return resolve();
        socket.send(text, (error) => {
          resumeWaiting();
          if (error) reject(error);
          else resolve();
        });
      }),
  };
}

/** A subscription whose results are sent to one socket. */
interface OutgoingSubscription extends Reader<object>, ResultListener {
  readonly socket: WebSocket;
  /** The beginning of each message, up to the part that subscribers share. */
  readonly head: string;
  /** Whether a result is being executed, or results are being written. */
  isBusy: boolean;
  isDetached: boolean;
  readonly writer: SocketWriter;
  readonly subscription: SharedSubscription;
  completion: { resolve: (end: IteratorResult<never>) => void; reject: (error: unknown) => void } | null;
}

/**
 * Sends the results of a subscription under its id, each when it is ready and the client reads. For the library it is a
 * generator that yields nothing, and ends or fails when the updates do.
 */
export function sendResults(
  writer: SocketWriter,
  id: string,
  subscription: SharedSubscription,
): AsyncGenerator<never> {
  const sending: OutgoingSubscription = {
    socket: writer.socket,
    head: `{"id":${JSON.stringify(id)},"type":"next",`,
    isBusy: false,
    isDetached: false,
    trySend,
    ready,
    resume,
    fail,
    writer,
    subscription,
    completion: null,
  };
  return {
    next: () =>
      new Promise((resolve, reject) => {
        sending.completion = { resolve, reject };
        subscription.updates.reader = sending;
        sending.ready();
      }),
    async return() {
      detach(sending);
      return DONE;
    },
    async throw(error) {
      detach(sending);
      throw error;
    },
    [Symbol.asyncIterator]: self,
  };
}

/** Sends an update whose result is cached, to a client that reads: the case of nearly all updates. */
function trySend(this: OutgoingSubscription, item: object): boolean {
  if (this.isBusy) return false;
  const result = cachedResult(item);
  const { bufferedAmount } = this.socket;
  if (!result || bufferedAmount >= MAX_UNSENT_BYTES) return false;
  write(this, result, bufferedAmount);
  return true;
}

function ready(this: OutgoingSubscription): void {
  if (!this.isBusy) drain(this, null);
}

/** Writes `result`, then results from the queue until one is not ready or the client does not read. */
function drain(sending: OutgoingSubscription, result: SerializedResult | null): void {
  sending.isBusy = true;
  try {
    for (let next = result ?? takeNext(sending); next; next = takeNext(sending)) {
      if (next instanceof Promise) {
        onResult(next, sending);
        return;
      }
      write(sending, next, sending.socket.bufferedAmount);
    }
  } catch (error) {
    sending.fail(error);
  }
  sending.isBusy = false;
}

function resume(this: OutgoingSubscription, result: SerializedResult): void {
  drain(this, result);
}

function takeNext(sending: OutgoingSubscription): SerializedResult | Promise<SerializedResult> | null {
  const { writer, subscription } = sending;
  if (writer.socket.bufferedAmount >= MAX_UNSENT_BYTES) {
    writer.enqueue(sending);
    subscription.updates.park();
    return null;
  }
  const item = subscription.updates.take();
  if (item) return subscription.resultFor(item);
  if (subscription.updates.isOver) sending.completion?.resolve(DONE);
  return null;
}

function write(sending: OutgoingSubscription, result: SerializedResult, bufferedAmount: number): void {
  const { socket, head, isDetached, writer } = sending;
  if (isDetached || socket.readyState !== socket.OPEN) return;
  const { rest } = result;
  // A callback at each write costs a fifth of the whole delivery, and most frames leave at once.
  if (bufferedAmount === 0 && rest.length <= MAX_COPIED_BYTES)
    return void writer.wire.write(textFrame(head, rest));
  const { wire, onSent } = writer;
  const hasRoom = result.hold();
  wire.cork();
  wire.write(textFrameHead(head, rest.length));
  wire.write(rest, () => {
    result.sent();
    onSent();
  });
  wire.uncork();
  if (hasRoom) return;
  sending.fail(tooMuchUnread());
  cutSoon(wire);
}

function fail(this: OutgoingSubscription, error: unknown): void {
  this.subscription.updates.end();
  this.completion?.reject(error);
}

function detach(sending: OutgoingSubscription): void {
  sending.isDetached = true;
  sending.writer.dequeue(sending);
  sending.subscription.updates.end();
  sending.completion?.resolve(DONE);
}

const DONE: IteratorResult<never> = { value: undefined, done: true };

function self<Iterator>(this: Iterator): Iterator {
  return this;
}
