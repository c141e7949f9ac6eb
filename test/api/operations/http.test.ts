import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { buildClientSchema, getIntrospectionQuery, parse, validate } from 'graphql';
import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHttpServer } from '../../../server/src/api/http/server.ts';
import { EXAMPLE_TABS } from '../../../server/src/api/operations/examples.ts';
import { startingRoute } from '../../../server/src/api/operations/route.ts';
import { LIVE_KEY, startApp, type TestApp } from '../../support/app.ts';
import { sendRaw } from '../../support/raw-http.ts';

const WALLET = '{ wallet { currency } }';
const CREATE = 'mutation { createCardPayment(input: { valueCents: 100 }) { __typename } }';
const JSON_TYPE = { 'content-type': 'application/json' };

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

/** Sends a request with the live key, unless the headers say otherwise. */
const send = (init: RequestInit & { query?: Record<string, string> } = {}) => {
  const { query, headers, ...rest } = init;
  const url = `${app.url}/graphql${query ? `?${new URLSearchParams(query)}` : ''}`;
  return fetch(url, { ...rest, headers: { authorization: `Bearer ${LIVE_KEY}`, ...headers } });
};
const post = (body: BodyInit, headers: Record<string, string> = JSON_TYPE) =>
  send({ method: 'POST', body, headers });

describe('GraphQL over HTTP', () => {
  // The audits send no credential; this `fetch` adds one to each request.
  const audits = serverAudits({
    url: () => `${app.url}/graphql`,
    fetchFn: (url: string, init: RequestInit = {}) =>
      fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${LIVE_KEY}` } }),
  });

  test('the audits of GraphQL over HTTP are at least 61', () => {
    expect(audits.length).toBeGreaterThanOrEqual(61);
  });

  test.each(audits.map((audit) => [audit.name, audit] as const))(
    'The server passes this audit of GraphQL over HTTP: %s',
    async (_, audit) => {
      const result = await audit.fn();
      expect(
        result.status === 'ok' ? 'ok' : `${result.status}: ${'reason' in result ? result.reason : ''}`,
      ).toBe('ok');
    },
  );
});

describe('a query', () => {
  test('a query with half of a surrogate pair is refused, not changed', async () => {
    const answer = await post(JSON.stringify({ query: '{ cardPayment(orderCode: "\ud800") { status } }' }), {
      ...JSON_TYPE,
      accept: 'application/graphql-response+json',
    });
    expect([answer.status, (await answer.json()).errors[0].message]).toEqual([
      400,
      expect.stringContaining('Invalid character'),
    ]);
  });

  test('a query by POST is answered with JSON in either media type', async () => {
    const body = JSON.stringify({ query: WALLET });
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      const answer = await post(body, { ...JSON_TYPE, accept });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toContain(accept);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(await answer.json()).toEqual({ data: { wallet: { currency: 'BRL' } } });
    }
  });

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    'a body may have the media type %s',
    async (type) => {
      expect((await post(JSON.stringify({ query: WALLET }), { 'content-type': type })).status).toBe(200);
    },
  );

  test('a query by GET is answered', async () => {
    const query = 'query ($code: String!) { cardPayment(orderCode: $code) { status } }';
    const answer = await send({ query: { query, variables: '{"code":"x"}' } });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ data: { cardPayment: null } });
  });

  test.each([
    ['variable={}', 'variable is unknown; variables may be meant'],
    ['variables={}&variables={}', 'variables is given twice'],
  ])('a query by GET with %s is refused, and does not read more than was asked for', async (more, says) => {
    const answer = await fetch(`${app.url}/graphql?query=${encodeURIComponent(WALLET)}&${more}`, {
      headers: { authorization: `Bearer ${LIVE_KEY}` },
    });
    expect([answer.status, (await answer.json()).errors[0].message]).toEqual([400, says]);
  });

  test('the name of an operation may be in the address of a POST', async () => {
    const query = { operationName: 'X', trace: '1' };
    const answer = await send({
      method: 'POST',
      query,
      headers: JSON_TYPE,
      body: JSON.stringify({ query: WALLET }),
    });
    expect(await answer.json()).toEqual({ data: { wallet: { currency: 'BRL' } } });
  });

  test('a query with one refused field shows the others', async () => {
    const { status, body } = await app.live.send('{ wallet { currency } node(id: "x") { id } }');
    expect(status).toBe(200);
    expect(body.data).toEqual({ wallet: { currency: 'BRL' }, node: null });
    expect(body.errors).toHaveLength(1);
  });
});

test('A subscription whose client names no event stream is refused at once', async () => {
  const body = JSON.stringify({ query: 'subscription { allCardPaymentUpdates { cursor } }' });
  const types = ['', '*/*', 'application/json', 'application/graphql-response+json', 'application/json, */*'];
  for (const accept of types) {
    const answer = await post(body, { ...JSON_TYPE, accept });
    const message = (await answer.json()).errors?.[0].message;
    expect([accept, answer.status, message]).toEqual([accept, 406, expect.stringContaining('event-stream')]);
  }
});

describe('HEAD', () => {
  test.each([
    ['a query', { query: WALLET }, 200],
    ['a document that is not valid', { query: '{ nothing }' }, 400],
    ['a mutation', { query: CREATE }, 405],
    ['no query', {}, 400],
  ])('HEAD is answered as GET is, without a body: %s', async (_, query, status) => {
    const headers = { accept: 'application/graphql-response+json' };
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => send({ method, query: query as Record<string, string>, headers })),
    );
    expect([head!.status, await head!.text()]).toEqual([status, '']);
    // Node's client closes the connection of a HEAD.
    const apart = ['date', 'connection', 'keep-alive'];
    const headersOf = (answer: Response) =>
      Object.fromEntries([...answer.headers].filter(([name]) => !apart.includes(name)));
    expect(headersOf(head!)).toEqual(headersOf(get!));
  });

  test('HEAD opens no subscription', async () => {
    const query = { query: 'subscription { allCardPaymentUpdates { cursor } }' };
    const types = ['text/event-stream', 'text/event-stream, application/json', 'TEXT/Event-Stream'];
    // `curl -I` sends the first of these wildcards.
    const wildcards = ['*/*', 'text/*', 'application/graphql-response+json, */*;q=0.1'];
    for (const accept of [...types, ...wildcards]) {
      const answer = await send({ method: 'HEAD', query, headers: { accept } });
      expect([accept, answer.status]).toEqual([accept, 406]);
    }
    const port = Number(new URL(app.url).port);
    const head = `HEAD /graphql?${new URLSearchParams(query)} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n`;
    const answer = await sendRaw(port, `${head}authorization: Bearer ${LIVE_KEY}\r\n\r\n`, /\r\n\r\n/);
    expect(answer).toMatch(/^HTTP\/1.1 406 /);
  });

  test('a page that is asked for by HEAD exists', async () => {
    const answer = await fetch(`${app.url}/graphql`, { method: 'HEAD', headers: { accept: 'text/html' } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html']);
  });
});

describe('another site cannot make a browser send an operation', () => {
  const count = async () =>
    (await app.live.request('{ cardPayments { totalCount } }')).cardPayments.totalCount;

  test.each([
    ['a form', 'application/x-www-form-urlencoded', new URLSearchParams({ query: CREATE }).toString()],
    ['plain text', 'text/plain', JSON.stringify({ query: CREATE })],
    ['plain text that ends in JSON', 'text/plain; application/json', JSON.stringify({ query: CREATE })],
    ['application/graphql', 'application/graphql', CREATE],
    ['nothing', '', JSON.stringify({ query: CREATE })],
    ['application/jsonp', 'application/jsonp', JSON.stringify({ query: CREATE })],
  ])('an operation sent as %s is refused with 415 and does not run', async (_, type, body) => {
    const before = await count();
    const answer = await post(new Blob([body]), type ? { 'content-type': type } : {});
    expect(answer.status).toBe(415);
    expect(await answer.json()).toEqual({
      errors: [
        {
          message: 'Send the operation as application/json',
          extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
        },
      ],
    });
    expect(await count()).toBe(before);
  });

  test('an operation sent as a multipart form is refused with 415 and does not run', async () => {
    const before = await count();
    const form = new FormData();
    form.set('operations', JSON.stringify({ query: CREATE }));
    form.set('map', '{}');
    expect((await post(form, {})).status).toBe(415);
    expect(await count()).toBe(before);
  });

  test.each([
    'application/xml',
    'text/html',
    'image/*',
    'application/json; charset=latin1',
    'application/json; charset="utf-8"',
    'application/json;q=0',
    'text/html, text/event-stream; q=0.000',
    'application/json;q=0,',
    'text/event-stream;Q=0',
    'text/*, text/event-stream;q=0',
  ])('a mutation whose client accepts only %s is refused with 406 and does not run', async (accept) => {
    const before = await count();
    const answer = await post(JSON.stringify({ query: CREATE }), { ...JSON_TYPE, accept });
    expect(answer.status).toBe(406);
    expect((await answer.json()).errors).toEqual([
      {
        message: 'Accept application/json or application/graphql-response+json, in UTF-8',
        extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
      },
    ]);
    expect(await count()).toBe(before);
  });

  test.each([
    '*/*',
    '*/json',
    'application/*',
    'text/*',
    'multipart/mixed',
    'text/html, Application/JSON; charset=UTF-8;q=0.1',
  ])('a mutation whose client accepts %s runs and is answered', async (accept) => {
    const before = await count();
    const answer = await post(JSON.stringify({ query: CREATE }), { ...JSON_TYPE, accept });
    expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
    expect(await count()).toBe(before + 1);
  });

  test.each([
    ['text/event-stream;q=0, text/*, application/*;q=0.5', 'application/json'],
    ['*/*, application/json;q=0', 'application/graphql-response+json'],
  ])('a client that accepts %s gets %s', async (accept, type) => {
    const answer = await post(JSON.stringify({ query: '{ __typename }' }), { ...JSON_TYPE, accept });
    expect(answer.headers.get('content-type')).toContain(type);
    expect(await answer.json()).toEqual({ data: { __typename: 'Query' } });
  });

  test('a mutation sent by GET is refused with 405 and does not run', async () => {
    const before = await count();
    const answer = await send({ query: { query: CREATE } });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
    expect((await answer.json()).errors[0].extensions).toEqual({
      code: 'METHOD_NOT_ALLOWED',
      retryPolicy: 'AFTER_CHANGE',
    });
    expect(answer.headers.get('x-error-code')).toBe('METHOD_NOT_ALLOWED');
    expect(await count()).toBe(before);
  });
});

describe('a body', () => {
  test.each([
    ['empty', '', 400, 'The body is empty'],
    ['white space', ' \n', 400, 'The body is empty'],
    ['not JSON', '{"query":', 400, 'JSON'],
    ['a string', '"{ wallet { id } }"', 400, ''],
    ['null', 'null', 400, ''],
    ['a number', '1', 400, ''],
    ['a batch', JSON.stringify([{ query: WALLET }, { query: WALLET }]), 400, 'Batching'],
    ['an empty batch', '[]', 400, ''],
    ['without a query', '{}', 400, 'query'],
    ['with an empty query', '{"query":""}', 400, ''],
    ['with a query that is not a string', '{"query":{"a":1}}', 400, 'query'],
    ['with variables that are a list', JSON.stringify({ query: WALLET, variables: [] }), 400, 'variables'],
    [
      'with two queries',
      `{"query":"{ __typename }","query":"{ wallet { id } }"}`,
      400,
      'query is given twice',
    ],
    [
      'with a variable that is given twice',
      `{"query":"{ __typename }","variables":{"input":{"amountCents":500,"amount\\u0043ents":null}}}`,
      400,
      'variables.input.amountCents is given twice',
    ],
    ['with an unknown operation', JSON.stringify({ query: WALLET, operationName: 'X' }), 400, 'operation'],
  ])('a body is refused: %s', async (_, body, status, says) => {
    const answer = await post(body, { ...JSON_TYPE, accept: 'application/graphql-response+json' });
    const { errors, data } = await answer.json();
    expect(data).toBeUndefined();
    expect(errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(errors[0].message).toContain(says);
    expect(answer.status).toBe(status);
  });

  test('a body that is not UTF-8 is refused', async () => {
    const answer = await post(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]));
    expect(answer.status).toBe(400);
    expect((await answer.json()).errors[0].message).toBe('The body is not UTF-8');
  });

  test('a body in another charset is refused', async () => {
    const answer = await post(JSON.stringify({ query: WALLET }), {
      'content-type': 'application/json; charset=utf-16',
    });
    expect(answer.status).toBe(415);
    expect((await answer.json()).errors[0].message).toBe('Send the operation in UTF-8');
  });

  test('a body that is too large is refused with 413, by its announced length and by its chunks', async () => {
    const large = JSON.stringify({ query: WALLET, variables: { padding: 'x'.repeat(100_000) } });
    for (const chunked of [false, true]) {
      const { status, body } = await postRaw(
        large,
        chunked ? {} : { 'content-length': String(large.length) },
      );
      expect(status).toBe(413);
      expect(JSON.parse(body).errors[0]).toEqual({
        message: 'The body must have at most 100000 bytes',
        extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
      });
    }
    expect((await post(JSON.stringify({ query: WALLET }))).status).toBe(200);
  });

  test('a body of the maximum length is read', async () => {
    const empty = JSON.stringify({ query: WALLET, variables: { padding: '' } });
    const padding = 'x'.repeat(100_000 - empty.length);
    expect((await post(JSON.stringify({ query: WALLET, variables: { padding } }))).status).toBe(200);
  });

  test('a body that breaks off leaves the server working', async () => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    socket.write(
      'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"que',
    );
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.destroy();
    expect((await post(JSON.stringify({ query: WALLET }))).status).toBe(200);
  });

  function postRaw(body: string, headers: Record<string, string>): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        `${app.url.replace('localhost', '127.0.0.1')}/graphql`,
        { method: 'POST', headers: { ...JSON_TYPE, ...headers } },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk) => {
            text += chunk;
          });
          response.on('end', () => resolve({ status: response.statusCode!, body: text }));
        },
      );
      // A body that is still being sent when the answer arrives may find the connection closed.
      request.on('error', (error: NodeJS.ErrnoException) => {
        if (!['EPIPE', 'ECONNRESET'].includes(error.code ?? '')) reject(error);
      });
      request.write(body.slice(0, 60_000));
      request.end(body.slice(60_000));
    });
  }
});

describe('a page of any origin', () => {
  const origin = 'https://shop.example';

  test('a page of any origin may send a preflight', async () => {
    const answer = await send({
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(answer.headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, OPTIONS');
    expect(answer.headers.get('access-control-allow-headers')).toMatch(/authorization.*content-type/);
    // The browser sends no other preflight for a day.
    expect(answer.headers.get('access-control-max-age')).toBe('86400');
  });

  test.each([
    // The headers that ApolloClient({ name, version }) and its tracing send.
    ['authorization,apollographql-client-name,apollographql-client-version,content-type,traceparent', true],
    ['x-request-id', true],
    ['x(y)', false],
    ['a'.repeat(1_001), false],
    [undefined, false],
  ])('a preflight that asks for the headers %s is answered with them: %s', async (requested, isEchoed) => {
    const { headers } = await send({
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        ...(requested !== undefined && { 'access-control-request-headers': requested }),
      },
    });
    const usual = 'authorization, content-type, accept, idempotency-key';
    expect(headers.get('access-control-allow-headers')).toBe(isEchoed ? requested : usual);
    expect(headers.get('vary')).toContain('Access-Control-Request-Headers');
  });

  test.each([
    ['an answer', JSON_TYPE, JSON.stringify({ query: WALLET }), 200],
    ['a refusal by GraphQL', JSON_TYPE, '{}', 400],
    ['a refusal before it', { 'content-type': 'text/plain' }, 'x', 415],
  ])('a page of any origin reads %s, without credentials of its own', async (_, headers, body, status) => {
    const answer = await post(body, { accept: 'application/graphql-response+json', ...headers, origin });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  });
});

describe('the routes', () => {
  test('the bare address leads to the shop', async () => {
    const answer = await fetch(`${app.url}/`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([307, '/demo/']);
  });

  test.each([
    ['/', '/demo/'],
    ['/demo', '/demo/'],
    ['/simulator', '/simulator/'],
  ])('%s leads to its page with the query', async (path, page) => {
    const answer = await fetch(`${app.url}${path}?lang=en&x=a%20b`, { redirect: 'manual' });
    expect(answer.headers.get('location')).toBe(`${page}?lang=en&x=a%20b`);
  });

  test.each(['/graphql/', '/graphql/x', '/GRAPHQL', '/nothing', '/..%2f..%2fetc/passwd', '/healthz/'])(
    '%s is answered with 404 as JSON',
    async (path) => {
      const answer = await fetch(`${app.url}${path}`);
      expect(answer.status).toBe(404);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(await answer.json()).toMatchObject({ error: 'Not found' });
    },
  );

  test.each(['/nothing', '/demo/nothing', '/widget/nothing.js', '/v1/nothing', '/v1/'])(
    '%s is answered with 404 as a page where a browser asks for one',
    async (path) => {
      const answer = await fetch(`${app.url}${path}`, {
        headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
      });
      expect(answer.status).toBe(404);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
      const page = await answer.text();
      expect(page).toContain('<h1>Página não encontrada</h1>');
      expect(page).toContain('<link rel="icon"');
    },
  );

  test.each([
    ['en-US,en;q=0.9', 'en', 'Page not found'],
    ['fr, es-419;q=0.5', 'es', 'Página no encontrada'],
    ['fr', 'pt-BR', 'Página não encontrada'],
  ])(
    'a browser that accepts %s gets the page of a missing address in %s',
    async (accepted, language, title) => {
      const answer = await fetch(`${app.url}/nothing`, {
        headers: { accept: 'text/html', 'accept-language': accepted },
      });
      expect(answer.headers.get('content-language')).toBe(language);
      expect(answer.headers.get('vary')).toContain('accept-language');
      const page = await answer.text();
      expect(page).toContain(`<html lang="${language}">`);
      expect(page).toContain(`<h1>${title}</h1>`);
    },
  );

  test('a path of the REST interface is answered as JSON, whatever the client accepts', async () => {
    // The `accept` header of Java's own client.
    const headers = { accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' };
    const answer = await fetch(`${app.url}/v1/nothing`, { headers });
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  test('there is an icon at the address where browsers look for one', async () => {
    const answer = await fetch(`${app.url}/favicon.ico`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  });

  test.each(['PUT', 'DELETE', 'PATCH'])('%s is answered with 405 and the allowed methods', async (method) => {
    const graphql = await send({ method });
    expect(graphql.status).toBe(405);
    expect(graphql.headers.get('allow')).toBe('GET, POST, OPTIONS, HEAD');
    const health = await fetch(`${app.url}/healthz`, { method });
    expect(health.status).toBe(405);
    expect(health.headers.get('allow')).toBe('GET, HEAD');
    for (const { headers } of [graphql, health])
      expect(headers.get('x-error-code')).toBe('METHOD_NOT_ALLOWED');
    expect(await health.json()).toEqual({
      error: 'Method not allowed',
      code: 'METHOD_NOT_ALLOWED',
      retryPolicy: 'AFTER_CHANGE',
    });
  });

  test.each([
    ['a route', 'ROUTE_NOT_FOUND', '/nothing', {}],
    ['a route, to a person', 'ROUTE_NOT_FOUND', '/nothing', { accept: 'text/html' }],
    ['a file of the widget', 'NOT_FOUND', '/widget/9.9.9/psa-checkout.js', {}],
    ['a payment’s page', 'NOT_FOUND', '/checkout/PSC-000000000000000000000000', { accept: 'text/html' }],
  ])('a 404 of %s is named in X-Error-Code', async (_, code, path, headers) => {
    const answer = await fetch(`${app.url}${path}`, { headers });
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([404, code]);
  });

  test.each([
    ['POST', '/widget/psa-checkout.js'],
    ['PUT', '/checkout/PSC-1'],
    ['DELETE', '/favicon.ico'],
    ['POST', '/v1/docs'],
    ['PATCH', '/readyz'],
  ])('a 405 of %s %s is named in X-Error-Code, with Allow', async (method, path) => {
    const { status, headers } = await fetch(`${app.url}${path}`, { method });
    expect([status, headers.get('x-error-code')]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(headers.get('allow')).toMatch(/GET/);
  });

  test.each([
    ['not GraphQL', '{', 400, 'BAD_USER_INPUT'],
    ['a field that does not exist', '{ nothing }', 400, 'BAD_USER_INPUT'],
  ])(
    'a document that is %s is named in X-Error-Code, as in its extensions',
    async (_, query, status, code) => {
      const answer = await post(JSON.stringify({ query }), {
        ...JSON_TYPE,
        accept: 'application/graphql-response+json',
      });
      expect([answer.status, answer.headers.get('x-error-code')]).toEqual([status, code]);
      expect((await answer.json()).errors[0].extensions).toMatchObject({ code, retryPolicy: 'AFTER_CHANGE' });
    },
  );

  test('the health routes report that the process is alive and ready', async () => {
    for (const [path, status] of [
      ['/healthz', 'ok'],
      ['/readyz', 'ready'],
    ] as const) {
      const answer = await fetch(`${app.url}${path}`);
      expect([answer.status, await answer.json()]).toEqual([200, { status }]);
      const head = await fetch(`${app.url}${path}`, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
    }
  });

  test('a demo shows GraphiQL to a browser', async () => {
    const answer = await fetch(`${app.url}/graphql`, { headers: { accept: 'text/html' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('text/html');
    const html = await answer.text();
    expect(html).toContain('GraphiQL');
    expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
    // Everything is served from here: a page that takes keys loads no script from elsewhere.
    expect(html).not.toMatch(/<(script|link)[^>]+(src|href)="https?:/);
  });

  test('each example of GraphiQL is valid by the schema, which it reads without a key', async () => {
    const { data } = await app
      .client(null)
      .send(getIntrospectionQuery())
      .then(({ body }) => body);
    const schema = buildClientSchema(data);
    for (const { query } of EXAMPLE_TABS.defaultTabs) expect(validate(schema, parse(query))).toEqual([]);
  });

  test.each([
    [null, 'No API key'],
    ['', 'No API key'],
    ['Bearer ', 'No API key'],
    ['Bearer ps_live_unknown', 'Invalid API key'],
    ['Basic YTpi', 'Invalid API key'],
  ])(
    'the credential %j is refused with “%s”, and reads the schema only where it is none',
    async (authorization, message) => {
      const send = async (query: string) => {
        const answer = await fetch(`${app.url}/graphql`, {
          method: 'POST',
          headers: { ...JSON_TYPE, ...(authorization === null ? {} : { authorization }) },
          body: JSON.stringify({ query }),
        });
        return (await answer.json()) as {
          data?: unknown;
          errors?: { message: string; extensions: object }[];
        };
      };
      const { errors: [error] = [] } = await send('{ wallet { balanceCents } }');
      expect(error).toMatchObject({
        message: expect.stringContaining(message),
        extensions: { code: 'UNAUTHENTICATED', retryPolicy: 'AFTER_CHANGE' },
      });
      expect(Boolean((await send(getIntrospectionQuery())).data)).toBe(message === 'No API key');
    },
  );

  test.each([
    ['GET / HTTP/1.1\r\nbad header\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nhost: x\r\nlarge: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['GET http://[ HTTP/1.1\r\nhost: x\r\n\r\n', 400],
  ])('bytes that are not a request are refused: %#', async (text, status) => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    socket.end(text);
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });
});

test('a page can read the 503 of a server that has not started', async () => {
  const http = createHttpServer({
    onFault: (fault) => expect.fail(String(fault)),
    starting: [startingRoute()],
  });
  const url = `http://127.0.0.1:${await http.listen(0, '127.0.0.1')}`;
  const origin = 'https://shop.example';
  const preflight = await fetch(`${url}/graphql`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization,content-type');
  const body = JSON.stringify({ query: WALLET });
  const answer = await fetch(`${url}/graphql`, { method: 'POST', headers: { ...JSON_TYPE, origin }, body });
  expect(answer.status).toBe(503);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect(answer.headers.get('access-control-expose-headers')).toContain('retry-after');
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(await answer.json()).toEqual({
    errors: [
      {
        message: 'Starting',
        extensions: { code: 'UNAVAILABLE', retryPolicy: 'SAME_KEY', retryAfterSeconds: 1 },
      },
    ],
  });
  const other = await fetch(`${url}/v1/balance`);
  expect([other.status, await other.json()]).toMatchObject([503, { error: 'Starting', code: 'UNAVAILABLE' }]);
  await http.close();
});

test('a server that is not ready answers 503, also without the database', async () => {
  const down = await startApp();
  await down.database.close();
  const answer = await fetch(`${down.url}/readyz`);
  expect([answer.status, await answer.json()]).toEqual([503, { status: 'not ready', cause: 'other' }]);
  expect((await fetch(`${down.url}/healthz`)).status).toBe(200);
  await down.close();
});
