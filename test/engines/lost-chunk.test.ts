// A chunk that a page loses once, in each engine: in a page whose bundler emits native modules, and in one with the
// script tag.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleFiles } from '../e2e/bundle.ts';
import { pageWith } from '../e2e/site.ts';
import { type FakeServer, type Scenario, startFakeServer } from '../widget/fake-server.ts';
import { startChromium, startFirefox } from './bidi.ts';
import type { Engine } from './engine.ts';
import { startWebKit } from './webkit.ts';

const ENGINES = { Chromium: startChromium, Firefox: startFirefox, WebKit: () => startWebKit() };
const WAYS = ['an answer of 503', 'a cut connection'] as const;
const ELEMENT = "document.querySelector('psa-checkout')";
const BUTTON = `${ELEMENT}.shadowRoot?.querySelector('[part=button]')`;
const PATIENCE = { timeout: 60_000, interval: 50 };

/** A server that loses a file once, and records the requested paths. */
let site: {
  url: string;
  requests: string[];
  lose(file: RegExp, way: (typeof WAYS)[number]): void;
  close(): void;
};
let endpoint: FakeServer;
/** The address of the script of each page. */
let scripts: Record<'bundled' | 'script-tag', string>;

beforeAll(async () => {
  endpoint = await startFakeServer();
  const files = new Map(
    (await bundleFiles("import '@psa/checkout/define';")).map(([name, code]) => [`/${name}`, code]),
  );
  const [bundled = ''] = files.keys();
  scripts = { bundled, 'script-tag': '/widget/psa-checkout.js' };
  site = await startSite((path) =>
    path.startsWith('/widget/')
      ? readFileSync(new URL(`../../widget/dist/standalone/${path.slice(8)}`, import.meta.url), 'utf8')
      : files.get(path),
  );
});
afterAll(async () => {
  site?.close();
  await endpoint?.close();
});

describe.each(Object.entries(ENGINES))('a chunk that is lost once in %s', (_, start) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await start();
  });
  afterAll(() => engine?.close());

  it.each(['bundled', 'script-tag'] as const)('comes with the second try on a %s page', async (kind) => {
    for (const way of WAYS) {
      const token = await createToken();
      site.requests.length = 0;
      site.lose(/payment\b[^/]*\.js$/, way);
      const query = new URLSearchParams({
        token,
        script: scripts[kind],
        endpoint: `${endpoint.url}/graphql`,
      });
      const window = await engine.visit(`${site.url}/?${query}`);
      await expect.poll(() => window.ask(`Boolean(${BUTTON})`), PATIENCE).toBe(true);
      await window.click(BUTTON);
      await expect.poll(() => window.ask(`${ELEMENT}.phase`), PATIENCE).toBe('pending');
      expect(site.requests.filter((path) => path.includes('payment')).length, way).toBeGreaterThan(1);
      await window.leave();
    }
  });
});

async function createToken(): Promise<string> {
  const response = await fetch(`${endpoint.url}/scenario`, { method: 'POST', body: '{}' });
  return ((await response.json()) as Scenario).token;
}

async function startSite(read: (path: string) => string | undefined): Promise<typeof site> {
  const requests: string[] = [];
  let losing: { file: RegExp; way: (typeof WAYS)[number] } | undefined;
  const server = createServer((request, response) => {
    const { pathname, search, searchParams } = new URL(request.url!, 'http://shop');
    requests.push(pathname + search);
    if (pathname === '/') {
      const { script = '', ...attributes } = Object.fromEntries(searchParams);
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      return response.end(
        pageWith(
          'psa-checkout',
          { ...attributes, methods: 'pix' },
          `<script type="module" src="${script}"></script>`,
        ),
      );
    }
    if (losing?.file.test(pathname)) {
      const { way } = losing;
      losing = undefined;
      if (way === 'a cut connection') return request.socket.destroy();
      response.writeHead(503);
      return response.end();
    }
    const code = read(pathname);
    response.writeHead(code === undefined ? 404 : 200, { 'content-type': 'text/javascript' });
    response.end(code);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    requests,
    lose: (file, way) => {
      losing = { file, way };
    },
    close: () => void server.close(),
  };
}
