import type { WebSocket } from 'ws';
import type { Answer, Answers } from './shared-execution.ts';

/** With so much unsent, a subscription's updates wait in its own queue, and whatever that one allows is done there. */
const MAX_AHEAD_BYTES = 64_000;

/** So much alone does not keep a subscription waiting. */
const LARGE = MAX_AHEAD_BYTES / 4;

/** All that one socket is sent. */
export interface Outlet {
  /** Resolves when the bytes have left for the kernel: so a client that does not read is not read ahead for. */
  send(text: string): Promise<void>;
  /**
   * Sends the answers of a subscription under its id, each as it comes and as long as the client takes them. For the library
   * it is a source that yields nothing, and ends or fails when the answers do.
   */
  follow(id: string, answers: Answers): AsyncGenerator<never>;
}

interface Settle {
  resolve: (end: IteratorResult<never>) => void;
  reject: (error: unknown) => void;
}

/** `onSent` is called when something has left. */
export function createOutlet(socket: WebSocket, onSent: () => void): Outlet {
  /** What waits for the client to read, in the order in which it began to. */
  const waiting = new Set<() => void>();

  function hasRoom(): boolean {
    return socket.bufferedAmount < MAX_AHEAD_BYTES;
  }

  function sent(): void {
    onSent();
    for (const go of waiting) {
      if (!hasRoom()) return;
      waiting.delete(go);
      go();
    }
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
    follow(id, answers) {
      const begin = `{"id":${JSON.stringify(id)},"type":"next","payload":`;
      let isBusy = false;
      let hasLeft = false;
      let settle: Settle | null = null;

      /** Called by whatever may have changed: an update, room, an answer that is ready. */
      function go(): void {
        if (isBusy) return;
        isBusy = true;
        try {
          for (;;) {
            if (!hasRoom()) {
              waiting.add(go);
              break;
            }
            const answer = answers.take();
            if (answer instanceof Promise) return void answer.then(goOn, fail);
            if (!answer) break;
            write(answer);
          }
          if (answers.over) finish();
        } catch (error) {
          settle?.reject(error);
        }
        isBusy = false;
      }

      function goOn(answer: Answer): void {
        write(answer);
        isBusy = false;
        go();
      }

      function fail(error: unknown): void {
        answers.end();
        settle?.reject(error);
      }

      function write({ json }: Answer): void {
        if (hasLeft || socket.readyState !== socket.OPEN) return;
        const text = `${begin}${json}}`;
        // To be told when it has left costs a fifth of the whole delivery, and most leave at once.
        if (text.length > LARGE || socket.bufferedAmount > 0) socket.send(text, sent);
        else socket.send(text);
      }

      function finish(): void {
        settle?.resolve({ value: undefined, done: true });
      }

      function leave(): void {
        hasLeft = true;
        waiting.delete(go);
        answers.end();
        finish();
      }

      const generator: AsyncGenerator<never> = {
        next: () =>
          new Promise((resolve, reject) => {
            settle = { resolve, reject };
            answers.onReady(go);
            go();
          }),
        async return() {
          leave();
          return { value: undefined, done: true };
        },
        async throw(error) {
          leave();
          throw error;
        },
        [Symbol.asyncIterator]: () => generator,
      };
      return generator;
    },
  };
}
