import { toJson } from '../to-json.ts';
import type { Cursor, FollowEnd, FollowOptions } from './transport.ts';

/** The time for a socket to open: a proxy may swallow the upgrade. */
const OPEN_MS = 3_000;
const PING_MS = 12_000;
const PONG_MS = 5_000;

/**
 * Follows over `graphql-transport-ws`. The protocol for one subscription is these few messages; a client library would be
 * a fifth of the whole widget. Close codes 4401 and 4403 mean that the token is no longer valid.
 */
export function followSocket(options: FollowOptions): Promise<FollowEnd> {
  const { endpoint, token, query, variables, signal, onOpen, onUpdate } = options;
  return new Promise((resolve) => {
    const socket = new WebSocket(endpoint.replace(/^http/, 'ws'), 'graphql-transport-ws');
    const send = (message: object) => socket.send(toJson(message));
    const end = (errors?: FollowEnd) => {
      clearTimeout(watchdog);
      socket.onmessage = socket.onclose = null;
      socket.close(1000);
      resolve(errors);
    };
    const disconnect = () => end();
    let watchdog = setTimeout(disconnect, OPEN_MS);
    // A signal has one socket or one pause at a time.
    signal.onabort = disconnect;
    socket.onopen = () => send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
    // 44xx are the protocol's own close codes; after any other (1013: too slow) the caller reconnects.
    socket.onclose = ({ code, reason }) =>
      end(/^44/.test(String(code)) ? [{ message: reason, extensions: { code } }] : undefined);
    socket.onmessage = ({ data }) => {
      const { type, payload } = JSON.parse(data);
      // After 12 s without a message a ping is sent; a socket that does not answer it is closed.
      clearTimeout(watchdog);
      watchdog = setTimeout(() => {
        send({ type: 'ping' });
        watchdog = setTimeout(disconnect, PONG_MS);
      }, PING_MS);
      if (type === 'connection_ack') {
        onOpen();
        send({ type: 'subscribe', id: '1', payload: { query, variables } });
      } else if (type === 'ping') send({ type: 'pong' });
      else if (type === 'next' && !payload.errors) onUpdate(Object.values(payload.data)[0] as Cursor);
      else if (type !== 'pong') end(payload?.errors ?? payload);
    };
  });
}
