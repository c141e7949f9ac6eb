import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { sendRaw } from '../support/raw-http.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

describe('a request', () => {
  test.each(['variables=[', 'extensions={', 'variables=%00'])(
    'A GET request with %s is the caller’s mistake',
    async (param) => {
      const response = await fetch(`${app.url}/graphql?query={__typename}&${param}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        errors: [{ extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' } }],
      });
    },
  );

  test('A request with thousands of wrong variables gets a response that is smaller than the request', async () => {
    const input = Object.fromEntries(Array.from({ length: 4_000 }, (_, index) => [`wrong${index}`, index]));
    const variables = { input };
    const { body } = await app
      .client(null)
      .send(
        'mutation ($input: CreateCardPaymentInput!) { createCardPayment(input: $input) { __typename } }',
        variables,
      );
    expect(body.errors[0].message).toContain('$input');
    expect(JSON.stringify(body).length).toBeLessThan(JSON.stringify(variables).length);
  });

  test.each([
    '//x/metrics',
    '///x/metrics',
    '/x\\..\\metrics',
    '/\\x/metrics',
    '/x/../metrics',
    '/x/%2e%2E/metrics',
  ])('A path that a proxy may read as another one is refused: %s', async (path) => {
    const answer = await sendRaw(app.port, `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).not.toContain('process_cpu');
  });

  test('The page of GraphiQL cannot be shown in a frame', async () => {
    const { headers } = await fetch(`${app.url}/graphql`, { headers: { accept: 'text/html' } });
    expect(headers.get('x-frame-options')).toBe('DENY');
  });

  test('The page of GraphiQL runs its own scripts alone, and connects to its own server alone', async () => {
    const answer = await fetch(`${app.url}/graphql`, { headers: { accept: 'text/html' } });
    const page = await answer.text();
    const policy = Object.fromEntries(
      answer.headers
        .get('content-security-policy')!
        .split('; ')
        .map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1).join(' ')]),
    );
    // The page's own script and style for the key stand before the root; GraphiQL's script is the last, and its texts
    // contain such tags.
    const before = page.slice(0, page.indexOf('<div id="root">'));
    const hashes = [
      before.slice(before.lastIndexOf('<script>') + 8, before.lastIndexOf('</script>')),
      page.slice(
        page.lastIndexOf('<script>\n        function prepareBlob') + 8,
        page.lastIndexOf('</script>'),
      ),
    ].map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
    expect(policy).toEqual({
      'default-src': "'none'",
      'script-src': hashes.join(' '),
      'worker-src': 'blob:',
      'style-src': "'unsafe-inline'",
      'img-src': 'data:',
      'font-src': 'data:',
      'connect-src': "'self' ws: wss:",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    });
    // An answer that is no page has no policy.
    const json = await fetch(`${app.url}/graphql?query={__typename}`);
    expect(json.headers.has('content-security-policy')).toBe(false);
  });
});
