// The floor of an HTTP server: it reads the request's body and answers with prepared bytes, or with prepared data
// if it has to stringify.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { answerParent, cpuMicroseconds } from './answer.mjs';

answerParent({
  async start({ body, headers, stringifies = false }) {
    const ready = Buffer.from(body);
    const data = JSON.parse(body || 'null');
    const answer = stringifies ? () => Buffer.from(JSON.stringify(data)) : () => ready;
    const server = createServer((request, response) => {
      request.resume().once('end', () => {
        const bytes = answer();
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
