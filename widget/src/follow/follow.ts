import type { CheckoutConnection, CheckoutError } from '../checkout-state.ts';
import { toCheckoutError } from '../request.ts';
import { pause } from './pause.ts';
import { followPolls } from './poll.ts';
import { followStream } from './sse.ts';
import type { FollowOptions, Transport } from './transport.ts';
import { followSocket } from './websocket.ts';

export interface FollowUpdatesOptions<Update> extends Omit<FollowOptions<Update>, 'onOpen' | 'polls'> {
  transport: 'auto' | Transport;
  onConnection: (connection: CheckoutConnection, transport: Transport) => void;
}

/**
 * Follows a stream of updates until `signal` is aborted: over a WebSocket, else an event stream, else
 * polling, which retries the streams from time to time. Reconnects with the cursor of the last update.
 * Returns early only with an error that a retry cannot resolve.
 */
export async function follow<Update extends object>(
  options: FollowUpdatesOptions<Update>,
): Promise<CheckoutError | undefined> {
  const { signal, onUpdate, onConnection, variables, transport: requested } = options;
  // A page may name a transport that does not exist, such as `websocket`.
  const all = (requested in CONNECT ? [requested] : Object.keys(CONNECT)) as Transport[];
  /** The current transport, and those that remain if it fails. */
  let transports = all;
  /** The state of the connection before it opens. */
  let unopened: CheckoutConnection = 'connecting';
  let misses = 0;
  let opened = false;
  const connection: FollowOptions<Update> = {
    ...options,
    polls: 0,
    onOpen() {
      opened = true;
      const [transport] = transports as [Transport];
      if (!signal.aborted) onConnection(transport === 'poll' ? 'polling' : 'live', transport);
    },
    onUpdate(update) {
      if (signal.aborted) return;
      variables.after = update.cursor;
      misses = 0;
      onUpdate(update);
    },
  };
  while (!signal.aborted) {
    const [transport, ...left] = transports as [Transport, ...Transport[]];
    let error: CheckoutError | undefined;
    opened = false;
    onConnection(unopened, transport);
    if (signal.aborted) return;
    try {
      const refusal = (await CONNECT[transport](connection))?.[0];
      if (refusal?.extensions?.code === 'CURSOR_EXPIRED' && variables.after) {
        variables.after = undefined;
        continue;
      }
      if (refusal) error = toCheckoutError(refusal);
      else if (transport === 'poll') {
        // The retry is not shown: the connection is `polling` until a stream is open.
        transports = all;
        unopened = 'polling';
        continue;
      }
    } catch (thrown) {
      error = thrown as CheckoutError;
    }
    if (signal.aborted) return;
    // A refused transport is no error while another one remains. An expired token is refused by all of them.
    const refused = error?.retryable === false;
    if (refused && (error?.code === 'unauthorized' || !left[0])) return error;
    const waitMs = (error?.retryAfterSeconds ?? 0) * 1000;
    const online = navigator.onLine;
    misses++;
    // A transport that never opened is replaced at once; one that opened is replaced if it ends repeatedly
    // without an update.
    if (
      online &&
      left[0] &&
      (refused || misses > 3 || !(opened || (unopened === 'reconnecting' && misses < 2)))
    ) {
      transports = left;
      misses = 0;
      if (!waitMs) continue;
    }
    unopened = 'reconnecting';
    onConnection(online ? unopened : 'offline', transport);
    await pause(waitMs || Math.min(15_000, 400 * 2 ** misses) * (0.75 + Math.random() / 2), signal);
  }
  return;
}

const CONNECT = { ws: followSocket, sse: followStream, poll: followPolls };
