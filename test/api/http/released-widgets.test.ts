// The bundles of the widget's released versions, at the addresses that pages name.

import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { widgetRoute } from '../../../server/src/api/http/widget-files.ts';
import { readHashes } from '../../../widget/scripts/released.mjs';

let server: Server;
let url: string;

beforeAll(async () => {
  const route = widgetRoute();
  server = createServer((request, response) => {
    const address = new URL(request.url ?? '/', 'http://shop');
    const params = { ...(route.path as RegExp).exec(address.pathname)?.groups };
    Promise.resolve(route.handle({ request, response, url: address, params })).catch(({ status }) =>
      response.writeHead(status).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/widget`;
});

afterAll(() => void server.close());

test('every file of every released version is served with the bytes of its hash, for good and to any site', async () => {
  const versions = Object.entries(readHashes());
  expect(versions.length).toBeGreaterThan(0);
  for (const [version, files] of versions) {
    expect(Object.keys(files)).toEqual(expect.arrayContaining(['psa-checkout.js', 'psa-payouts.js']));
    for (const [name, hash] of Object.entries(files)) {
      const response = await fetch(`${url}/${version}/${name}`);
      const body = Buffer.from(await response.arrayBuffer());
      expect([name, response.status]).toEqual([name, 200]);
      expect(`sha384-${createHash('sha384').update(body).digest('base64')}`).toBe(hash);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
      if (name.endsWith('.js')) expect(response.headers.get('content-type')).toMatch(/^text\/javascript/);
    }
  }
});

test('a version that was never released is not found, and that is not cached', async () => {
  for (const path of [
    '0.0.1/psa-checkout.js',
    '0.1.0/nothing.js',
    '0.1.0/',
    '0.1.0',
    '1e9.0.0/psa-checkout.js',
  ]) {
    const { status, headers } = await fetch(`${url}/${path}`);
    expect([path, status, headers.get('cache-control')]).toEqual([path, 404, null]);
  }
});
