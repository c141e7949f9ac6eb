// The floor of a push by event stream: it sends a prepared text to every client.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { answerParent, cpuMicroseconds } from './answer.mjs';

/** @type {Set<import('node:http').ServerResponse>} */
const streams = new Set();
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(':\n\n');
  streams.add(response);
  response.on('close', () => streams.delete(response));
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
await once(server, 'listening');

answerParent({
  start() {
    const address = /** @type {import('node:net').AddressInfo} */ (server.address());
    return { url: `http://127.0.0.1:${address.port}` };
  },
  cpu: cpuMicroseconds,
  tell({ text }) {
    const at = String(process.hrtime.bigint());
    const event = Buffer.from(`event: next\ndata: ${text}\n\n`);
    for (const stream of streams) stream.write(event);
    return { at };
  },
});
