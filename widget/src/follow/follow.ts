import type { CheckoutConnection, CheckoutError } from '../checkout-state.ts';
import { CARD_PAYMENT_UPDATES, type CardPayment } from '../operations.ts';
import { errorOf } from '../request.ts';
import { pause } from './pause.ts';
import { followPolls } from './poll.ts';
import { followStream } from './sse.ts';
import type { FollowEnd, FollowOptions, Transport } from './transport.ts';
import { followSocket } from './websocket.ts';

export interface FollowPaymentOptions {
  endpoint: string;
  token: string;
  orderCode: string;
  transport: 'auto' | Transport;
  signal: AbortSignal;
  onPayment: (payment: CardPayment) => void;
  onConnection: (connection: CheckoutConnection, transport: Transport) => void;
}

/**
 * Follows a payment until `signal` is aborted: a WebSocket first, else an event stream, else polling. Reconnects
 * with the cursor of the last update. Returns early only with an error that no other try can mend.
 */
export async function followPayment(options: FollowPaymentOptions): Promise<CheckoutError | undefined> {
  const { endpoint, token, orderCode, signal, onPayment, onConnection } = options;
  const wanted = options.transport;
  const transports: Transport[] = !wanted || wanted === 'auto' ? ['ws', 'sse', 'poll'] : [wanted];
  const last = transports.length - 1;
  let at = 0;
  let misses = 0;
  let everOpened = false;
  let opened = false;
  const connection: FollowOptions = {
    endpoint,
    token,
    query: CARD_PAYMENT_UPDATES,
    variables: { orderCode, after: undefined },
    signal,
    onOpen() {
      opened = everOpened = true;
      if (!signal.aborted)
        onConnection(transports[at] === 'poll' ? 'polling' : 'live', transports[at] ?? 'poll');
    },
    onUpdate({ cursor, cardPayment }) {
      if (signal.aborted) return;
      connection.variables.after = cursor;
      misses = 0;
      onPayment(cardPayment);
    },
  };
  const connect = (transport: Transport): Promise<FollowEnd> => {
    if (transport === 'ws') return followSocket(connection);
    if (transport === 'sse') return followStream(connection);
    return followPolls(connection);
  };
  while (!signal.aborted) {
    const transport = transports[at] ?? 'poll';
    let error: CheckoutError | undefined;
    opened = false;
    onConnection(everOpened ? 'reconnecting' : 'connecting', transport);
    try {
      const refusal = (await connect(transport))?.[0];
      if (refusal?.extensions?.code === 'CURSOR_EXPIRED' && connection.variables.after) {
        connection.variables.after = undefined;
        continue;
      }
      if (refusal) error = errorOf(refusal);
    } catch (thrown) {
      error = thrown as CheckoutError;
    }
    if (signal.aborted) return;
    // A server without this transport is no error while another is left; an ended token is one on each.
    const refused = error?.retryable === false;
    if (refused && (error?.code === 'unauthorized' || at === last)) return error;
    const waitMs = (error?.retryAfterSeconds ?? 0) * 1000;
    const online = navigator.onLine;
    misses++;
    // One that never opened is left at once; one that has, when it keeps ending without an update.
    if (online && at < last && (refused || misses > 3 || !(opened || (everOpened && misses < 2)))) {
      at++;
      misses = 0;
      if (!waitMs) continue;
    }
    onConnection(online ? 'reconnecting' : 'offline', transport);
    await pause(waitMs || Math.min(15_000, 400 * 2 ** misses) * (0.75 + Math.random() / 2), signal);
  }
  return;
}
