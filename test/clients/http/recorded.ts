import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import type { Feature } from './clients.ts';
import type { Findings } from './kit.ts';

export const APACHE = 'Apache HttpClient';
const VERSION = '5.4';
const AGENT = `Apache-HttpClient/${VERSION} (Java/21.0.2)`;
const LONG = '{"query":"{ __schema { types { name description } } }"}';

/**
 * The requests of Apache HttpClient on one connection, with its headers. A GET asks to change to TLS (RFC 2817),
 * which a server may ignore.
 */
function requests(host: string, key: string): string {
  const own = [`Authorization: Bearer ${key}`, 'Content-Type: application/json'];
  const common = ['Accept-Encoding: gzip, x-gzip, deflate', `Host: ${host}`];
  const get = (path: string) => [
    ...[`GET ${path} HTTP/1.1`, ...own, ...common, `User-Agent: ${AGENT}`],
    ...['Upgrade: TLS/1.2', 'Connection: Upgrade', '', ''],
  ];
  const post = (path: string, body: string) => [
    ...[`POST ${path} HTTP/1.1`, ...own, ...common, `Content-Length: ${body.length}`],
    ...['Connection: keep-alive', `User-Agent: ${AGENT}`, '', body],
  ];
  const all = [get('/v1/wallet'), post('/graphql', '{"query":"{ updatesCursor }"}'), post('/graphql', LONG)];
  return all.map((lines) => lines.join('\r\n')).join('');
}

/** Sends the recorded requests and reads their three responses. */
export async function playApache({ url, key }: { url: string; key: string }): Promise<Findings> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port) || 80, hostname);
  socket.setTimeout(10_000, () => socket.destroy());
  socket.write(requests(host, key));
  let said = Buffer.alloc(0);
  const responses: Response[] = [];
  for await (const chunk of socket) {
    said = Buffer.concat([said, chunk]);
    for (let read = readResponse(said); read; read = readResponse(said)) {
      responses.push(read.response);
      said = said.subarray(read.length);
    }
    if (responses.length === 3) break;
  }
  socket.destroy();
  const [wallet, query, long] = responses;
  const passed: Feature[] = [];
  if (wallet?.head.startsWith('HTTP/1.1 200') && wallet.body.includes('"currency":"BRL"'))
    passed.push('rest get');
  if (query?.body.includes('"updatesCursor":"')) passed.push('query');
  if (long && /^content-encoding: gzip$/im.test(long.head) && long.body.includes('"__schema"'))
    passed.push('gzip');
  if (responses.length === 3) passed.push('keep-alive');
  const asked: Feature[] = ['rest get', 'query', 'gzip', 'keep-alive'];
  const failed = asked.filter((feature) => !passed.includes(feature));
  return { client: APACHE, version: `${VERSION}, by recorded bytes`, passed, failed };
}

interface Response {
  head: string;
  body: string;
}

/** Reads the first response, or nothing while it is incomplete. */
function readResponse(said: Buffer): { response: Response; length: number } | null {
  const at = said.indexOf('\r\n\r\n');
  if (at < 0) return null;
  const head = said.toString('latin1', 0, at);
  const start = at + 4;
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? Number.NaN);
  if (Number.isNaN(length)) throw new Error(`A response without a length: ${head}`);
  if (said.length < start + length) return null;
  const bytes = said.subarray(start, start + length);
  const body = (/^content-encoding: gzip$/im.test(head) ? gunzipSync(bytes) : bytes).toString();
  return { response: { head, body }, length: start + length };
}
