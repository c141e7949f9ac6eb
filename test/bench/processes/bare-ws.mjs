// The floor of a push: it sends a prepared text to every client.
import { once } from 'node:events';
import { WebSocketServer } from 'ws';
import { answerParent, cpuMicroseconds, memoryMegabytes } from './answer.mjs';

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', backlog: 4_096 });
await once(server, 'listening');

answerParent({
  start() {
    const address = /** @type {import('node:net').AddressInfo} */ (server.address());
    return { url: `ws://127.0.0.1:${address.port}` };
  },
  cpu: cpuMicroseconds,
  memory: memoryMegabytes,
  tell({ text }) {
    const at = String(process.hrtime.bigint());
    for (const client of server.clients) client.send(text);
    return { at };
  },
});
