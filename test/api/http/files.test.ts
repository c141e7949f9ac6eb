import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { filesRoute } from '../../../server/src/api/http/files.ts';

const SCRIPT = 'export const answer = 42;\n'.repeat(200);

let folder: string;
let server: Server;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'psa-files-'));
  await writeFile(join(folder, 'app.js'), SCRIPT);
  await writeFile(join(folder, 'photo.png'), Buffer.alloc(2_000));
  const route = filesRoute({ prefix: '/shop', folder, headers: () => ({ 'cache-control': 'no-cache' }) });
  server = createServer((request, response) => {
    const address = new URL(request.url ?? '/', 'http://shop');
    const params = { ...route.path.exec(address.pathname)?.groups };
    Promise.resolve(route.handle({ request, response, url: address, params })).catch(({ status }) =>
      response.writeHead(status).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/shop`;
});

afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

const get = (name: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${url}/${name}`, { method, headers: { 'accept-encoding': 'identity', ...headers } });

describe('a file', () => {
  test.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['identity', null],
  ])('a file requested with %s is sent with the encoding %s', async (accepted, encoding) => {
    const answer = await get('app.js', { 'accept-encoding': accepted });
    expect(answer.headers.get('content-encoding')).toBe(encoding);
    expect(answer.headers.get('vary')).toBe('accept-encoding');
    const length = Number(answer.headers.get('content-length'));
    if (encoding) expect(length).toBeLessThan(SCRIPT.length / 10);
    else expect(length).toBe(SCRIPT.length);
    expect(await answer.text()).toBe(SCRIPT);

    const head = await get('app.js', { 'accept-encoding': accepted }, 'HEAD');
    expect(Number(head.headers.get('content-length'))).toBe(length);
  });

  test('a file that is compressed already is sent as it is', async () => {
    const answer = await get('photo.png', { 'accept-encoding': 'br' });
    expect(answer.headers.get('content-encoding')).toBeNull();
    expect(answer.headers.get('vary')).toBeNull();
  });

  test('a file is not sent again to a client with its etag', async () => {
    const etag = (await get('app.js', { 'accept-encoding': 'br' })).headers.get('etag') ?? '';
    const again = await get('app.js', { 'accept-encoding': 'br', 'if-none-match': etag });
    expect(again.status).toBe(304);
    expect(again.headers.get('cache-control')).toBe('no-cache');
    // A file with other bytes at the same address is another entity.
    expect((await get('app.js', { 'accept-encoding': 'gzip', 'if-none-match': etag })).status).toBe(200);
  });

  test('a file that has changed is read again', async () => {
    const path = join(folder, 'page.html');
    await writeFile(path, 'one');
    const first = await get('page');
    await writeFile(path, 'two');
    await utimes(path, 1, 1);
    const second = await get('page');
    expect([await first.text(), await second.text()]).toEqual(['one', 'two']);
    expect(second.headers.get('etag')).not.toBe(first.headers.get('etag'));
  });

  test('a missing file, or a folder, is not found', async () => {
    expect((await get('none.js')).status).toBe(404);
    expect((await get('../../files.test.ts')).status).toBe(404);
    expect((await get('')).status).toBe(404);
  });
});
