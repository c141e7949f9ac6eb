import type { CheckoutConnection, CheckoutError } from '../checkout-state.ts';
import { CARD_PAYMENT_UPDATES, type CardPayment } from '../operations.ts';
import { errorOf, readPayment } from '../request.ts';
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
  const transports: Transport[] = options.transport === 'auto' ? ['ws', 'sse', 'poll'] : [options.transport];
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
      misses = 0;
      if (!signal.aborted)
        onConnection(transports[at] === 'poll' ? 'polling' : 'live', transports[at] ?? 'poll');
    },
    onUpdate({ cursor, cardPayment }) {
      if (signal.aborted) return;
      connection.variables.after = cursor;
      onPayment(cardPayment);
    },
  };
  const connect = (transport: Transport): Promise<FollowEnd> => {
    if (transport === 'ws') return followSocket(connection);
    if (transport === 'sse') return followStream(connection);
    return followPolls({
      ...connection,
      read: () => readPayment({ endpoint, token, orderCode, signal }),
      onPayment,
    });
  };
  while (!signal.aborted) {
    const transport = transports[at] ?? 'poll';
    let error: CheckoutError | undefined;
    opened = false;
    onConnection(everOpened ? 'reconnecting' : 'connecting', transport);
    try {
      const end = await connect(transport);
      if (end.type === 'refused') {
        if (end.errors?.[0]?.extensions?.['code'] === 'CURSOR_EXPIRED' && connection.variables.after) {
          connection.variables.after = undefined;
          continue;
        }
        error = errorOf(end.errors?.[0]);
      }
    } catch (thrown) {
      error = thrown as CheckoutError;
    }
    if (signal.aborted) return;
    // A server without this transport is no error while another is left; an ended token is one on each.
    const refused = error?.retryable === false;
    if (refused && (error?.code === 'unauthorized' || at === last)) return error;
    const online = navigator.onLine !== false;
    if (!opened && online && at < last && (++misses > 1 || refused || !everOpened)) {
      at++;
      misses = 0;
      if (!error?.retryAfterSeconds) continue;
    } else if (!opened) misses++;
    onConnection(online ? 'reconnecting' : 'offline', transport);
    const backoffMs = Math.min(15_000, 400 * 2 ** misses) * (0.75 + Math.random() / 2);
    await pause(error?.retryAfterSeconds ? error.retryAfterSeconds * 1000 : backoffMs, signal);
  }
  return;
}
