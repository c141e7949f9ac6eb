// Sends one request again and again on kept connections, the next as soon as the answer is there. It writes and reads
// sockets itself: a client library would use as much of the machine as the servers that it measures.
import { answerParent } from './answer.mjs';
import { answerLength, openSocket } from './connection.mjs';

/** The mark in a body that each request replaces by a new text of the same length. */
const NEW = '<number>';
let made = 0;

answerParent({
  async run({ url, path, headers, method = 'POST', body = '', connections, ms }) {
    const { hostname, port } = new URL(url);
    const head = [`${method} ${path} HTTP/1.1`, `host: ${hostname}:${port}`];
    for (const [name, value] of Object.entries(headers)) head.push(`${name}: ${value}`);
    head.push(`content-length: ${Buffer.byteLength(body)}`);
    const text = `${head.join('\r\n')}\r\n\r\n${body}`;
    const ready = Buffer.from(text);
    const next = body.includes(NEW)
      ? () => Buffer.from(text.replaceAll(NEW, () => String(++made).padStart(NEW.length, '0')))
      : () => ready;
    const clients = await Promise.all(
      Array.from({ length: connections }, () => openSocket(hostname, Number(port))),
    );
    const started = performance.now();
    const endsAt = started + ms;
    const delays = (await Promise.all(clients.map((client) => loop(client, next, endsAt)))).flat();
    const seconds = (performance.now() - started) / 1_000;
    return { requests: delays.length, perSecond: delays.length / seconds, delays };
  },
});

/**
 * Measures each answer, in milliseconds.
 *
 * @param {import('node:net').Socket} socket @param {() => Buffer} next @param {number} endsAt
 * @returns {Promise<number[]>}
 */
function loop(socket, next, endsAt) {
  return new Promise((resolve, reject) => {
    /** @type {number[]} */
    const delays = [];
    let sentAt = performance.now();
    /** @type {Buffer} */
    let held = Buffer.alloc(0);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection')));
    socket.on('data', (chunk) => {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const length = answerLength(held);
      if (length === null || held.length < length) return;
      if (held.length > length) return reject(new Error('more came than one answer'));
      if (held.toString('latin1', 9, 11) !== '20') return reject(new Error(held.toString('utf8', 0, 500)));
      held = Buffer.alloc(0);
      const now = performance.now();
      delays.push(now - sentAt);
      sentAt = now;
      if (now < endsAt) return socket.write(next());
      socket.removeAllListeners('close').destroy();
      resolve(delays);
    });
    socket.write(next());
  });
}
