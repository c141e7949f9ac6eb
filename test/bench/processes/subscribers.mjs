// Subscribers over graphql-transport-ws, many on one socket, that count the messages they receive. They speak the few
// messages of the protocol themselves: thousands of a client library's objects would use more of the machine than the
// server.
import { once } from 'node:events';
import WebSocket from 'ws';
import { answerParent } from './answer.mjs';

/** The number of sockets that open at the same time. */
const AT_ONCE = 8;

/** @type {WebSocket[]} */
const sockets = [];
let reported = 0;
/** @type {string[]} */
const faults = [];

answerParent({
  /** Resolves when each subscription has received its first state. */
  async start({ url, key, subscriptions, onEachSocket }) {
    const groups = Array.from({ length: Math.ceil(subscriptions.length / onEachSocket) }, (_, index) =>
      subscriptions.slice(index * onEachSocket, (index + 1) * onEachSocket),
    );
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let group = groups.shift(); group; group = groups.shift()) await follow(url, key, group);
      }),
    );
    return { sockets: sockets.length };
  },
  /** The updates since the last call, first states included, and all failures since the start. */
  reported() {
    const count = reported;
    reported = 0;
    return { updates: count, faults: faults.slice(0, 3) };
  },
});

/** @param {string} url @param {string} key @param {{ query: string, variables: object }[]} subscriptions */
async function follow(url, key, subscriptions) {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws');
  sockets.push(socket);
  await once(socket, 'open');
  const waiting = new Set(subscriptions.keys());
  /** @type {Promise<void>} */
  const all = new Promise((resolve, reject) => {
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString());
      if (message.type === 'connection_ack')
        for (const [id, payload] of subscriptions.entries())
          socket.send(JSON.stringify({ id: String(id), type: 'subscribe', payload }));
      else if (message.type === 'ping') socket.send('{"type":"pong"}');
      else if (message.type === 'next' && !message.payload.errors) {
        reported += 1;
        waiting.delete(Number(message.id));
        if (waiting.size === 0) resolve();
      } else fault(JSON.stringify(message));
    });
    socket.on('close', (code, reason) => fault(`closed: ${code} ${reason}`));
    socket.on('error', reject);
    /** @param {string} text */
    function fault(text) {
      faults.push(text);
      reject(new Error(text));
    }
  });
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } }));
  await all;
}
