import type { WebSocket } from 'ws';
import type { Answer, Opened } from './shared-execution.ts';

/** With so much unsent, a subscription's updates wait in its own queue, and whatever that one allows is done there. */
const MAX_AHEAD_BYTES = 64_000;
/** What is no longer than this leaves room for the next, even if it does not leave. */
const SHORT = MAX_AHEAD_BYTES / 4;

/** All that one socket is sent. */
export interface Outlet {
  /** Resolves when the bytes have left for the kernel: so a client that does not read is not read ahead for. */
  send(text: string): Promise<void>;
  /**
   * Sends the answers of a subscription under its id, each as it comes and as long as the client takes them. For the library
   * it is a source that yields nothing, and ends or fails when the updates do.
   */
  follow(id: string, opened: Opened): AsyncGenerator<never>;
}

/** `onSent` is called when something has left that may have waited. */
export function createOutlet(socket: WebSocket, onSent: () => void): Outlet {
  /** What waits for the client to read, in the order in which it began to. */
  let waiting: Set<() => void> | null = null;

  const hasRoom = () => socket.bufferedAmount < MAX_AHEAD_BYTES;

  function sent(): void {
    onSent();
    for (const go of waiting ?? []) {
      if (!hasRoom()) return;
      waiting?.delete(go);
      go();
    }
  }

  function write(text: string): void {
    if (socket.readyState !== socket.OPEN) return;
    // To be told when it has left costs a fifth of the whole delivery, and most leave at once.
    if (text.length > SHORT || socket.bufferedAmount > 0) socket.send(text, sent);
    else socket.send(text);
  }

  return {
    send: (text) =>
      new Promise((resolve, reject) => {
        if (socket.readyState !== socket.OPEN) return resolve();
        socket.send(text, (error) => {
          sent();
          if (error) reject(error);
          else resolve();
        });
      }),
    follow(id, { updates, answerTo }) {
      const begin = `{"id":${JSON.stringify(id)},"type":"next","payload":`;
      let isBusy = false;
      let hasLeft = false;
      let end: { resolve: (end: IteratorResult<never>) => void; reject: (error: unknown) => void } | null =
        null;

      /** Called by whatever may have changed: an update, room for it, its answer. */
      function go(answered?: Answer): void {
        if (isBusy && !answered) return;
        isBusy = true;
        try {
          for (let answer = answered ?? next(); answer; answer = next()) {
            if (answer instanceof Promise) {
              answer.then(go, fail);
              return;
            }
            if (!hasLeft) write(`${begin}${answer.json}}`);
          }
        } catch (error) {
          fail(error);
        }
        isBusy = false;
      }

      function next(): Answer | Promise<Answer> | null {
        if (!hasRoom()) {
          waiting ??= new Set();
          waiting.add(go);
          return null;
        }
        const item = updates.take();
        if (item) return answerTo(item);
        if (updates.over) end?.resolve(DONE);
        return null;
      }

      function fail(error: unknown): void {
        updates.end();
        end?.reject(error);
      }

      function leave(): void {
        hasLeft = true;
        waiting?.delete(go);
        updates.end();
        end?.resolve(DONE);
      }

      return {
        next: () =>
          new Promise((resolve, reject) => {
            end = { resolve, reject };
            updates.onReady = go;
            go();
          }),
        async return() {
          leave();
          return DONE;
        },
        async throw(error) {
          leave();
          throw error;
        },
        [Symbol.asyncIterator]: itself,
      };
    },
  };
}

const DONE: IteratorResult<never> = { value: undefined, done: true };

function itself<Iterator>(this: Iterator): Iterator {
  return this;
}
