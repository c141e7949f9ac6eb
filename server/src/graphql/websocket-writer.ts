import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Reader } from '../events/subscribe.ts';
import { textFrame, textFrameHead } from './frame.ts';
import {
  cachedResult,
  onAnswer,
  type SerializedResult,
  type SharedSubscription,
  type Waiting,
} from './shared-execution.ts';

/** With so much unsent, a subscription's updates wait in its own queue, and whatever that one allows is done there. */
const MAX_AHEAD_BYTES = 64_000;
/** What is no longer than this leaves room for the next, even if it does not leave. */
const SHORT = MAX_AHEAD_BYTES / 4;

/** All that one socket is sent. */
export interface SocketWriter {
  readonly socket: WebSocket;
  /** What `socket` speaks over: nothing is compressed, so what the two of them write goes out as it comes. */
  readonly wire: Duplex;
  /** It waits for the client to read, behind those that began to before. */
  wait(sending: OutgoingSubscription): void;
  /** It waits no longer. */
  leave(sending: OutgoingSubscription): void;
  sent(): void;
  /** Resolves when the bytes have left for the kernel: so a client that does not read is not read ahead for. */
  send(text: string): Promise<void>;
}

/** `onSent` is called when something has left that may have waited. */
export function createSocketWriter(socket: WebSocket, wire: Duplex, onSent: () => void): SocketWriter {
  /** Most clients read, and for these there is none. */
  let waiting: Set<OutgoingSubscription> | null = null;

  function sent(): void {
    onSent();
    for (const sending of waiting ?? []) {
      if (socket.bufferedAmount >= MAX_AHEAD_BYTES) return;
      waiting?.delete(sending);
      sending.ready();
    }
  }

  return {
    socket,
    wire,
    wait(sending) {
      waiting ??= new Set();
      waiting.add(sending);
    },
    leave: (sending) => waiting?.delete(sending),
    sent,
    send: (text) =>
      new Promise((resolve, reject) => {
        if (socket.readyState !== socket.OPEN) return resolve();
        socket.send(text, (error) => {
          sent();
          if (error) reject(error);
          else resolve();
        });
      }),
  };
}

/** A subscription on its way to a socket. */
interface OutgoingSubscription extends Reader<object>, Waiting {
  readonly socket: WebSocket;
  /** Of each message, up to what is shared. */
  readonly begin: string;
  /** An answer is being made, or made ready. */
  isBusy: boolean;
  hasLeft: boolean;
  readonly outlet: SocketWriter;
  readonly opened: SharedSubscription;
  end: { resolve: (end: IteratorResult<never>) => void; reject: (error: unknown) => void } | null;
}

/**
 * Sends the answers of a subscription under its id, each as it comes and as long as the client takes them. For the library
 * it is a source that yields nothing, and ends or fails when the updates do.
 */
export function sendResults(
  outlet: SocketWriter,
  id: string,
  opened: SharedSubscription,
): AsyncGenerator<never> {
  const begin = `{"id":${JSON.stringify(id)},"type":"next",`;
  const sending: OutgoingSubscription = {
    socket: outlet.socket,
    begin,
    isBusy: false,
    hasLeft: false,
    give,
    ready,
    resume,
    fail,
    outlet,
    opened,
    end: null,
  };
  return {
    next: () =>
      new Promise((resolve, reject) => {
        sending.end = { resolve, reject };
        opened.updates.reader = sending;
        sending.ready();
      }),
    async return() {
      leave(sending);
      return DONE;
    },
    async throw(error) {
      leave(sending);
      throw error;
    },
    [Symbol.asyncIterator]: itself,
  };
}

/** The way that nearly all goes: what somebody else has had answered, to a client that reads. */
function give(this: OutgoingSubscription, item: object): boolean {
  if (this.isBusy) return false;
  const answer = cachedResult(item);
  const { bufferedAmount } = this.socket;
  if (!answer || bufferedAmount >= MAX_AHEAD_BYTES) return false;
  write(this, answer, bufferedAmount);
  return true;
}

function ready(this: OutgoingSubscription): void {
  if (!this.isBusy) goOn(this, null);
}

function goOn(sending: OutgoingSubscription, answered: SerializedResult | null): void {
  sending.isBusy = true;
  try {
    for (let answer = answered ?? nextOf(sending); answer; answer = nextOf(sending)) {
      if (answer instanceof Promise) {
        onAnswer(answer, sending);
        return;
      }
      write(sending, answer, sending.socket.bufferedAmount);
    }
  } catch (error) {
    sending.fail(error);
  }
  sending.isBusy = false;
}

function resume(this: OutgoingSubscription, answer: SerializedResult): void {
  goOn(this, answer);
}

function nextOf(sending: OutgoingSubscription): SerializedResult | Promise<SerializedResult> | null {
  const { outlet, opened } = sending;
  if (outlet.socket.bufferedAmount >= MAX_AHEAD_BYTES) {
    outlet.wait(sending);
    return null;
  }
  const item = opened.updates.take();
  if (item) return opened.resultFor(item);
  if (opened.updates.over) sending.end?.resolve(DONE);
  return null;
}

function write(sending: OutgoingSubscription, answer: SerializedResult, bufferedAmount: number): void {
  const { socket, begin, hasLeft, outlet } = sending;
  if (hasLeft || socket.readyState !== socket.OPEN) return;
  const { rest } = answer;
  if (rest.length > SHORT) {
    const { wire } = outlet;
    wire.cork();
    wire.write(textFrameHead(begin, rest.length));
    wire.write(rest, outlet.sent);
    wire.uncork();
    return;
  }
  const frame = textFrame(begin, rest);
  // To be told when it has left costs a fifth of the whole delivery, and most leave at once.
  if (bufferedAmount > 0) outlet.wire.write(frame, outlet.sent);
  else outlet.wire.write(frame);
}

function fail(this: OutgoingSubscription, error: unknown): void {
  this.opened.updates.end();
  this.end?.reject(error);
}

function leave(sending: OutgoingSubscription): void {
  sending.hasLeft = true;
  sending.outlet.leave(sending);
  sending.opened.updates.end();
  sending.end?.resolve(DONE);
}

const DONE: IteratorResult<never> = { value: undefined, done: true };

function itself<Iterator>(this: Iterator): Iterator {
  return this;
}
