// The floor of a facade over HTTP: for each root field it sends the upstream one request over a kept connection,
// all at the same time, and puts the requested members of each answer into one. It reads only the variables,
// never the query: its plans are given at the start.
import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import { answerParent, cpuMicroseconds } from './answer.mjs';

/**
 * @typedef {{ name: string, path: string, variable: string | null, fields: string[] }} Part one root field, the
 * end of its path, and the members that it needs
 */

const agent = new Agent({ keepAlive: true });

answerParent({
  /** @param {{ upstream: string, plans: Record<string, Part[]> }} given the plans by the path of this server */
  async start({ upstream, plans }) {
    const server = createServer((request, response) => {
      const { authorization = '' } = request.headers;
      const plan = plans[request.url ?? ''] ?? [];
      /** @type {Buffer[]} */
      const chunks = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.once('end', async () => {
        const { variables } = JSON.parse(Buffer.concat(chunks).toString());
        const data = Object.fromEntries(
          await Promise.all(
            plan.map((part) => {
              const end = part.variable === null ? '' : encodeURIComponent(variables[part.variable]);
              return ask(`${upstream}${part.path}${end}`, authorization, part);
            }),
          ),
        );
        const bytes = Buffer.from(JSON.stringify({ data }));
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
        response.end(bytes);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = /** @type {import('node:net').AddressInfo} */ (server.address());
    return { url: `http://127.0.0.1:${address.port}` };
  },
  cpu: cpuMicroseconds,
});

/**
 * @param {string} url @param {string} authorization @param {Part} part
 * @returns {Promise<[name: string, value: object]>}
 */
function ask(url, authorization, { name, fields }) {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers: { authorization } }, (response) => {
      /** @type {Buffer[]} */
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const found = JSON.parse(Buffer.concat(chunks).toString());
        resolve([name, Object.fromEntries(fields.map((field) => [field, found[field]]))]);
      });
    });
    request.on('error', reject);
  });
}
