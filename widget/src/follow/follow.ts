import type { CheckoutConnection, CheckoutError } from '../checkout-state.ts';
import { toCheckoutError } from '../request.ts';
import { pause } from './pause.ts';
import { followPolls } from './poll.ts';
import { followStream } from './sse.ts';
import type { FollowOptions, Transport } from './transport.ts';
import { followSocket } from './websocket.ts';

export interface FollowUpdatesOptions<Update> extends Omit<FollowOptions<Update>, 'onOpen'> {
  transport: 'auto' | Transport;
  onConnection: (connection: CheckoutConnection, transport: Transport) => void;
}

/**
 * Follows a stream of updates until `signal` is aborted: over a WebSocket, else an event stream, else polling.
 * Reconnects with the cursor of the last update. Returns early only with an error that a retry cannot resolve.
 */
export async function follow<Update extends object>(
  options: FollowUpdatesOptions<Update>,
): Promise<CheckoutError | undefined> {
  const { signal, onUpdate, onConnection, variables, transport: requested } = options;
  const transports: Transport[] = !requested || requested === 'auto' ? ['ws', 'sse', 'poll'] : [requested];
  const last = transports.length - 1;
  let index = 0;
  let transport: Transport = 'poll';
  let misses = 0;
  let everOpened = false;
  let opened = false;
  const connection: FollowOptions<Update> = {
    ...options,
    onOpen() {
      opened = everOpened = true;
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
    transport = transports[index] ?? 'poll';
    let error: CheckoutError | undefined;
    opened = false;
    onConnection(everOpened ? 'reconnecting' : 'connecting', transport);
    if (signal.aborted) return;
    try {
      const refusal = (await CONNECT[transport](connection))?.[0];
      if (refusal?.extensions?.code === 'CURSOR_EXPIRED' && variables.after) {
        variables.after = undefined;
        continue;
      }
      if (refusal) error = toCheckoutError(refusal);
    } catch (thrown) {
      error = thrown as CheckoutError;
    }
    if (signal.aborted) return;
    // A refused transport is no error while another one is left; an expired token is refused on all of them.
    const refused = error?.retryable === false;
    if (refused && (error?.code === 'unauthorized' || index === last)) return error;
    const waitMs = (error?.retryAfterSeconds ?? 0) * 1000;
    const online = navigator.onLine;
    misses++;
    // A transport that never opened is replaced at once, one that opened when it ends repeatedly without an update.
    if (online && index < last && (refused || misses > 3 || !(opened || (everOpened && misses < 2)))) {
      index++;
      misses = 0;
      if (!waitMs) continue;
    }
    onConnection(online ? 'reconnecting' : 'offline', transport);
    await pause(waitMs || Math.min(15_000, 400 * 2 ** misses) * (0.75 + Math.random() / 2), signal);
  }
  return;
}

const CONNECT = { ws: followSocket, sse: followStream, poll: followPolls };
