// The floor of an HTTP server: reads the request's body and answers with bytes that lie ready.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { answerParent, cpuMicroseconds } from './answer.mjs';

answerParent({
  async start({ body, headers }) {
    const bytes = Buffer.from(body);
    const server = createServer((request, response) => {
      request.resume().once('end', () => {
        response.writeHead(200, { ...headers, 'content-length': bytes.length });
        response.end(bytes);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = /** @type {import('node:net').AddressInfo} */ (server.address());
    return { url: `http://127.0.0.1:${address.port}` };
  },
  cpu: cpuMicroseconds,
});
