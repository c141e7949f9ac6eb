import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { uploadedFile } from '../../../server/src/api/http/file-bodies.ts';
import { pageOf, pageQuery, type RestOperation, restOperation } from '../../../server/src/api/http/rest.ts';
import { createRestRoutes } from '../../../server/src/api/http/rest-routes.ts';
import { createHttpServer } from '../../../server/src/api/http/server.ts';
import { createOpenSlots } from '../../../server/src/api/limits/open-slots.ts';
import type { Caller } from '../../../server/src/kernel/caller.ts';
import { type ErrorCode, retryOf } from '../../../server/src/kernel/error-codes.ts';
import {
  CursorExpiredError,
  type FieldError,
  IdempotencyError,
  NotFoundError,
  PaymentError,
  PermissionError,
  PreconditionError,
  RateLimitError,
  UnauthenticatedError,
  UpstreamError,
  ValidationError,
} from '../../../server/src/kernel/errors.ts';
import { instant } from '../../../server/src/kernel/instant.ts';
import { cents, centsAsReais } from '../../../server/src/kernel/money.ts';
import { createManualClock } from '../../support/clock.ts';
import { deferred } from '../../support/deferred.ts';
import { sendRaw } from '../../support/raw-http.ts';
import { createRequestLimit } from '../../support/request-limit.ts';
import { createRestClient } from '../../support/rest.ts';
import { generated } from '../../support/scale.ts';

// ── A shop with every kind of operation ─────────────────────────────────────────────────────────

/** The codes of refusals of the domain; the others are of HTTP, of GraphQL, or of a server that cannot answer. */
type RefusalCode = Exclude<
  ErrorCode,
  | 'UNAVAILABLE'
  | 'INTERNAL_SERVER_ERROR'
  | 'SLOW_CONSUMER'
  | 'PERSISTED_QUERY_NOT_FOUND'
  | 'ROUTE_NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
>;

class InsufficientFunds extends PaymentError {
  readonly code = 'INSUFFICIENT_FUNDS';
}

const REFUSALS: Record<RefusalCode, [error: PaymentError, status: number, message: string]> = {
  BAD_USER_INPUT: [
    new ValidationError([
      { path: 'input.amount.fixedCents', message: 'must be less' },
      { path: 'first', message: 'must be more' },
    ]),
    400,
    'amount.fixedCents: must be less; first: must be more',
  ],
  UNAUTHENTICATED: [new UnauthenticatedError('Invalid API key'), 401, 'Invalid API key'],
  FORBIDDEN: [new PermissionError('Not with this key'), 403, 'Not with this key'],
  NOT_FOUND: [new NotFoundError('Thing not found'), 404, 'Thing not found'],
  RATE_LIMITED: [
    new RateLimitError('5 payouts an hour', 1800),
    429,
    'Rate limit exceeded: 5 payouts an hour',
  ],
  INSUFFICIENT_FUNDS: [new InsufficientFunds('Too little'), 400, 'Too little'],
  CARD_PAYMENTS_NOT_CONFIGURED: [
    new PreconditionError('CARD_PAYMENTS_NOT_CONFIGURED', 'No cards'),
    409,
    'No cards',
  ],
  PAYMENTS_NOT_CONFIGURED: [new PreconditionError('PAYMENTS_NOT_CONFIGURED', 'No PIX'), 409, 'No PIX'],
  NOT_IN_SANDBOX: [new PreconditionError('NOT_IN_SANDBOX', 'Live alone'), 403, 'Live alone'],
  ONLY_IN_SANDBOX: [new PreconditionError('ONLY_IN_SANDBOX', 'Sandbox alone'), 403, 'Sandbox alone'],
  LIMIT_REACHED: [new PreconditionError('LIMIT_REACHED', 'Enough'), 409, 'Enough'],
  IDEMPOTENCY_CONFLICT: [new IdempotencyError('Other input'), 409, 'Other input'],
  CHECKOUT_TOKEN_USED: [new PreconditionError('CHECKOUT_TOKEN_USED', 'Used'), 409, 'Used'],
  CHECKOUT_TOKEN_PAUSED: [new PreconditionError('CHECKOUT_TOKEN_PAUSED', 'Paused'), 409, 'Paused'],
  ORDER_PAID: [new PreconditionError('ORDER_PAID', 'Order paid'), 409, 'Order paid'],
  ORDER_REFUNDED: [new PreconditionError('ORDER_REFUNDED', 'Order refunded'), 409, 'Order refunded'],
  NOT_CANCELABLE: [new PreconditionError('NOT_CANCELABLE', 'Paid'), 409, 'Paid'],
  RECORDS_BEHIND: [new PreconditionError('RECORDS_BEHIND', 'Restored'), 503, 'Restored'],
  NOT_PAYABLE: [new PreconditionError('NOT_PAYABLE', 'Failed'), 409, 'Failed'],
  NOT_REFUNDABLE: [new PreconditionError('NOT_REFUNDABLE', 'Not paid'), 409, 'Not paid'],
  DISPUTE_STATE: [new PreconditionError('DISPUTE_STATE', 'Disputed'), 409, 'Disputed'],
  NOT_OFFERED: [new PreconditionError('NOT_OFFERED', 'Not there'), 501, 'Not there'],
  CURSOR_EXPIRED: [new CursorExpiredError('Too old'), 400, 'Too old'],
  UPSTREAM_UNAVAILABLE: [new UpstreamError('UPSTREAM_UNAVAILABLE', 'No answer'), 502, 'No answer'],
  UPSTREAM_REFUSED: [new UpstreamError('UPSTREAM_REFUSED', 'No'), 502, 'No'],
  BANK_REFUSED: [new UpstreamError('BANK_REFUSED', 'The bank says no'), 409, 'The bank says no'],
  OUTCOME_UNKNOWN: [
    new UpstreamError('OUTCOME_UNKNOWN', 'Perhaps', { moneyMayHaveMoved: true, lookupReference: 'look' }),
    504,
    'Perhaps',
  ],
};

const thing = z.object({
  id: z.string(),
  amount: centsAsReais,
  amountCents: cents,
  madeAt: instant,
  note: z.string().nullish(),
});

const MADE_AT = new Date('2026-03-02T12:00:00.000Z');

const operations: RestOperation[] = [
  restOperation({
    method: 'POST',
    path: '/v1/things',
    operationId: 'createThing',
    summary: 'Make a thing',
    tag: 'Things',
    body: z.object({
      amountCents: cents,
      note: z.string().max(5, 'must have at most 5 characters').nullish(),
      nested: z.object({ colours: z.array(z.enum(['red', 'green'])), count: z.int().optional() }).optional(),
    }),
    answers: {
      201: { description: 'Made', schema: thing },
      202: { description: 'Under way', schema: z.object({ id: z.string() }) },
    },
    async handle({ body }) {
      if (body.amountCents === 0) return { status: 202, body: { id: 'later' } };
      // The service returns more members than the description names; the response leaves those out.
      const made = { ...body, id: 'thing', amount: body.amountCents, madeAt: MADE_AT, secretHash: 'x' };
      return { status: 201, body: made };
    },
  }),
  restOperation({
    method: 'GET',
    path: '/v1/things',
    operationId: 'listThings',
    summary: 'List things',
    tag: 'Things',
    query: pageQuery,
    answers: { 200: { description: 'A page', schema: pageOf('things', z.object({ id: z.string() })) } },
    async handle({ query }) {
      return { status: 200, body: { things: [{ id: 'thing' }], total: 1, ...query } };
    },
  }),
  restOperation({
    method: 'GET',
    path: '/v1/things/{id}/parts/{partId}',
    operationId: 'getPart',
    summary: 'Get a part',
    tag: 'Things',
    right: 'subaccount_payouts.request',
    params: z.object({
      id: z.string().regex(/^[0-9a-f]{4}$/, 'must be 4 hex digits'),
      partId: z.string(),
    }),
    answers: { 200: { description: 'The part', schema: z.object({ of: z.string(), id: z.string() }) } },
    async handle({ params }) {
      return { status: 200, body: { of: params.id, id: params.partId } };
    },
  }),
  restOperation({
    method: 'DELETE',
    path: '/v1/things/{id}',
    operationId: 'deleteThing',
    summary: 'Throw a thing away',
    tag: 'Things',
    params: z.object({ id: z.string() }),
    answers: { 200: { description: 'Gone', schema: z.object({ deleted: z.literal(true) }) } },
    async handle({ params }) {
      if (params.id === 'broken') throw new Error('a secret of the database');
      if (params.id === 'badly-answered') return { status: 200, body: { deleted: JSON.parse('false') } };
      const refusal = REFUSALS[params.id as RefusalCode];
      if (refusal) throw refusal[0];
      return { status: 200, body: { deleted: true } };
    },
  }),
];

const KEY = 'ps_live_unrestricted0000';
const CALLERS: Record<string, Caller> = {
  [KEY]: caller('one', 'live'),
  ps_test_unrestricted0000: caller('one', 'sandbox'),
  ps_live_restricted000000: caller('one', 'live', ['subcontas.sacar']),
  ps_live_other00000000000: caller('two', 'live'),
};

function caller(
  accountId: string,
  environment: 'live' | 'sandbox',
  permissions: ('subcontas.gerenciar' | 'subcontas.sacar')[] = [],
): Caller {
  return {
    tenant: { accountId, environment },
    credential: { kind: 'api_key', id: 'key', permissions },
    allowedOrigins: [],
    expiresAt: null,
    trustedDocumentsOnly: false,
    endsWith: [],
  };
}

const clock = createManualClock();
const faults: unknown[] = [];
const onFault = (fault: unknown) => faults.push(fault);
const server = createHttpServer({ onFault });
let port: number;
const asked: string[] = [];

beforeAll(async () => {
  port = await server.listen(0, '127.0.0.1');
});
beforeEach(() => {
  faults.length = 0;
  asked.length = 0;
  server.serve(
    createRestRoutes({
      operations,
      access: {
        admit: () => undefined,
        async authenticate(authorization) {
          const key = authorization!.replace(/^bearer /i, '');
          asked.push(key);
          const found = CALLERS[key];
          if (!found) throw new UnauthenticatedError('Invalid API key');
          return found;
        },
      },
      addressOf: () => '192.0.2.1',
      takeRequest: createRequestLimit({ limit: 120, clock }),
      openFile: () => () => undefined,
      clock,
      onFault,
    }),
  );
});
afterAll(() => server.close());

const rest = (key: string | null = KEY) => createRestClient(`http://127.0.0.1:${port}`, key);
const post = (body: BodyInit, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  rest().send('/things', { method: 'POST', body, headers });

// ── What it promises ────────────────────────────────────────────────────────────────────────────

describe('an answer', () => {
  test('an answer is encoded by its schema: reais, instants, and no member that it does not name', async () => {
    const { status, headers, body } = await rest().post('/things', { amountCents: 820, note: 'hi' });
    expect({ status, body }).toEqual({
      status: 201,
      body: { id: 'thing', amount: 8.2, amountCents: 820, madeAt: '2026-03-02T12:00:00.000Z', note: 'hi' },
    });
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('an answer may be one of several', async () => {
    expect(await rest().post('/things', { amountCents: 0 })).toMatchObject({
      status: 202,
      body: { id: 'later' },
    });
  });

  test('the answer to HEAD is that to GET, without the body', async () => {
    const get = await rest().get('/things');
    const head = await rest().send('/things', { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.body).toBeUndefined();
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
  });

  test('an answer that does not fit its schema is an internal fault, and is not sent', async () => {
    expect(await rest().delete('/things/badly-answered')).toMatchObject({
      status: 500,
      body: { error: 'Internal error' },
    });
    expect(faults).toHaveLength(1);
  });
});

describe('a key', () => {
  test.each([
    ['none', null],
    ['an empty one', 'Bearer '],
    ['a key that is not known', 'Bearer ps_live_unknown000000000'],
    ['another scheme', `Basic ${KEY}`],
    ['a key without a scheme', KEY],
    ['a key of strange characters', 'Bearer ps_live_"; drop table'],
    ['a very long one', `Bearer ps_live_${'x'.repeat(5_000)}`],
    ['a checkout token', 'Bearer ps_checkout_unknown'],
    ['a dashboard token', 'Bearer ps_dashboard_unknown'],
  ])('this credential is refused: %s', async (_, authorization) => {
    for (const path of ['/things', '/nowhere']) {
      const answer = await rest(null).send(path, authorization ? { headers: { authorization } } : {});
      expect(answer).toMatchObject({ status: 401, body: { error: 'Invalid API key' } });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('ratelimit-limit')).toBeNull();
    }
  });

  test('a browser’s token is refused without a lookup', async () => {
    expect((await rest('ps_payment_abc').get('/things')).status).toBe(401);
    expect(asked).toEqual([]);
  });

  test('a key may be sent with the scheme in any case', async () => {
    const answer = await rest(null).send('/things', { headers: { authorization: `bearer ${KEY}` } });
    expect(answer.status).toBe(200);
  });

  test('a restricted key may do what one of its permissions is for, and nothing else', async () => {
    const restricted = rest('ps_live_restricted000000');
    expect((await restricted.get('/things/00ff/parts/1')).status).toBe(200);
    expect(await restricted.get('/things')).toMatchObject({ status: 403 });
    // The permission is checked before the body is read.
    expect(await restricted.post('/things', 'nonsense')).toMatchObject({ status: 403 });
  });
});

describe('a path', () => {
  test('an unknown path is a 404 with a key', async () => {
    for (const path of ['', '/', '/nowhere', '/things/', '/things/1/parts', '/THINGS', '/things/1/2/3'])
      expect(await rest().get(path)).toMatchObject({ status: 404, body: { error: 'Not found' } });
  });

  test.each([
    ['PUT', '/things', 'POST, GET, HEAD'],
    ['PATCH', '/things/1', 'DELETE'],
    ['OPTIONS', '/things', 'POST, GET, HEAD'],
    ['POST', '/things/1/parts/2', 'GET, HEAD'],
  ])('%s %s is answered with 405 and the allowed methods', async (method, path, allow) => {
    const answer = await rest().send(path, { method });
    expect(answer).toMatchObject({
      status: 405,
      body: { error: 'Method not allowed', code: 'METHOD_NOT_ALLOWED', retryPolicy: 'AFTER_CHANGE' },
    });
    expect(answer.headers.get('x-error-code')).toBe('METHOD_NOT_ALLOWED');
    expect(answer.headers.get('allow')).toBe(allow);
    expect(answer.headers.get('ratelimit-limit')).toBe('120');
  });

  test('the fields of a path are decoded and checked', async () => {
    expect(await rest().get('/things/00ff/parts/a%2Fb%20%C3%A9')).toMatchObject({
      status: 200,
      body: { of: '00ff', id: 'a/b é' },
    });
    expect(await rest().get('/things/00fg/parts/1')).toMatchObject({
      status: 400,
      body: { error: 'id: must be 4 hex digits' },
    });
    // The path names no resource: the operation answers.
    expect((await rest().get('/things/00ff/parts/%ff')).body).toEqual({ of: '00ff', id: '%ff' });
  });
});

describe('a page', () => {
  test.each([
    ['', { limit: 50, offset: 0 }],
    ['?limit=1', { limit: 1, offset: 0 }],
    ['?limit=100&offset=7', { limit: 100, offset: 7 }],
    ['?offset=9007199254740991', { limit: 50, offset: 9007199254740991 }],
  ])('the page of the query %j is answered', async (query, page) => {
    expect(await rest().get(`/things${query}`)).toMatchObject({
      status: 200,
      body: { things: [{ id: 'thing' }], total: 1, ...page },
    });
  });

  test.each(['0', '101', '-1', '1.5', '1e1', '0x10', '', ' 1', 'ten', '%00', '99999999999999999999'])(
    'a page with limit=%s is refused',
    async (limit) => {
      expect(await rest().get(`/things?limit=${limit}`)).toMatchObject({
        status: 400,
        body: { error: 'limit: must be a whole number from 1 to 100' },
      });
    },
  );

  test.each([
    ['status=paid', 'status'],
    ['limit=5&Offset=5', 'Offset', '; offset may be meant'],
    ['limit[]=5', 'limit[]', '; limit may be meant'],
    ['__proto__=1', '__proto__'],
    ['=1', 'query'],
    [`${'a'.repeat(5_000)}=1`, 'a'.repeat(60)],
  ])('a page with the unknown parameter of %s is refused with its name', async (query, name, hint = '') => {
    const { status, headers, body } = await rest().get(`/things?${query}`);
    expect([status, headers.get('x-error-code')]).toEqual([400, 'BAD_USER_INPUT']);
    expect(body.error).toBe(`${name}: is no query parameter of GET /v1/things${hint}`);
  });

  test('a change with a query is refused, and not made without what the query says', async () => {
    const { status, body } = await rest().post('/things?idempotencyKey=order-1', { amountCents: 1 });
    expect([status, body]).toMatchObject([
      400,
      { error: 'idempotencyKey: is no query parameter of POST /v1/things' },
    ]);
  });

  test.each(['-1', '1.5', '9007199254740992', 'x'])('a page with offset=%s is refused', async (offset) => {
    const { status, body } = await rest().get(`/things?offset=${offset}&limit=0`);
    expect(status).toBe(400);
    expect(body.error).toBe(
      'limit: must be a whole number from 1 to 100; offset: must be a whole number from 0 to 9007199254740991',
    );
  });
});

describe('a body', () => {
  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    'a body may have the media type %s',
    async (type) => {
      expect((await post('{"amountCents":1}', { 'content-type': type })).status).toBe(201);
    },
  );

  test.each([
    ['application/x-www-form-urlencoded', 'The body must be sent as application/json'],
    ['text/plain; application/json', 'The body must be sent as application/json'],
    ['application/jsonp', 'The body must be sent as application/json'],
    ['', 'The body must be sent as application/json'],
    ['application/json; charset=utf-16', 'The body must be in UTF-8'],
  ])('a body with the media type %j is refused', async (type, error) => {
    expect(await post(new Blob(['{"amountCents":1}']), { 'content-type': type })).toMatchObject({
      status: 400,
      body: { error },
    });
  });

  test('a compressed body is refused with the reason, and one that says identity is read', async () => {
    const type = { 'content-type': 'application/json' };
    const packed = new Blob([new Uint8Array(gzipSync('{"amountCents":1}'))]);
    expect(await post(packed, { ...type, 'content-encoding': 'gzip' })).toMatchObject({
      status: 400,
      body: { error: 'The body must be sent without Content-Encoding' },
    });
    const plain = new Blob(['{"amountCents":1}']);
    expect(await post(plain, { ...type, 'content-encoding': 'Identity' })).toMatchObject({ status: 201 });
  });

  test.each([
    ['', 'The body is empty'],
    [' \n', 'The body is empty'],
    ['{"amountCents":', 'The body is not JSON'],
    ["{'amountCents':1}", 'The body is not JSON'],
    ['\u0000', 'The body is not JSON'],
    ['null', 'The body must be a JSON object'],
    ['1', 'The body must be a JSON object'],
    ['"text"', 'The body must be a JSON object'],
    ['[]', 'The body must be a JSON object'],
    ['['.repeat(30_000), 'The body is not JSON'],
    [`${'['.repeat(30_000)}${']'.repeat(30_000)}`, 'The body must be a JSON object'],
    ['{}', 'amountCents: is required'],
    ['{"amountCents":null}', 'amountCents: must be an integer number of cents'],
    ['{"amountCents":"1"}', 'amountCents: must be an integer number of cents'],
    ['{"amountCents":1.5}', 'amountCents: must be an integer number of cents'],
    ['{"amountCents":9007199254740993}', 'amountCents: must be an integer number of cents'],
    ['{"amountCents":1e999}', 'amountCents: must be an integer number of cents'],
    ['{"amountCents":1,"note":2}', 'note: must be a string'],
    ['{"amountCents":1,"nested":{}}', 'nested.colours: is required'],
    ['{"amountCents":1,"nested":[]}', 'nested: must be an object'],
    ['{"amountCents":1,"nested":{"colours":"red"}}', 'nested.colours: must be an array'],
    ['{"amountCents":1,"nested":{"colours":[null]}}', 'nested.colours.0: must be red or green'],
    ['{"amountCents":1,"nested":{"colours":[],"count":0.5}}', 'nested.count: must be an integer'],
    [
      '{"amountCents":-1,"note":"too long"}',
      'amountCents: must be an integer number of cents; note: must have at most 5 characters',
    ],
  ])('the body %.60j is refused with a message', async (body, error) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { error } });
  });

  test('the refusal of a body names the place of a wrong list item', async () => {
    const { body } = await rest().post('/things', { amountCents: 1, nested: { colours: ['red', 'blue'] } });
    expect(body.error).toBe('nested.colours.1: must be red or green');
    expect(body.fields).toEqual([{ path: 'nested.colours.1', message: 'must be red or green' }]);
  });

  test('a body with thousands of mistakes has a short refusal', async () => {
    const colours = Array.from({ length: 5_000 }, () => 1);
    const { status, body } = await rest().post('/things', { amountCents: 1, nested: { colours } });
    expect(status).toBe(400);
    expect(body.error.split('; ')).toHaveLength(10);
  });

  test('a body that is not UTF-8 is refused', async () => {
    expect(await post(new Uint8Array([0x22, 0xff, 0x22]))).toMatchObject({
      status: 400,
      body: { error: 'The body is not UTF-8' },
    });
  });

  test.each([
    ['{"amountCents":1,"later":{}}', 'later: is unknown; known are amountCents, note, nested'],
    [
      '{"amountCents":1,"__proto__":{"polluted":true}}',
      '__proto__: is unknown; known are amountCents, note, nested',
    ],
    ['{"amountCents":1,"constructor":1}', 'constructor: is unknown; known are amountCents, note, nested'],
    ['{"amountCents":1,"Note":"x"}', 'Note: is unknown; note may be meant'],
    ['{"amount_cents":1}', 'amount_cents: is unknown; amountCents may be meant; amountCents: is required'],
    ['{"amountCents":1,"nested":{"colours":[],"cuont":1}}', 'nested.cuont: is unknown; count may be meant'],
    ['{"amountCents":1,"nested":{"colours":[{"hue":1}]}}', 'nested.colours.0: must be red or green'],
    ['{"amountCents":1,"amountCents":2}', 'amountCents: is given twice'],
    ['{"amountCents":1,"\\u0061mountCents" : 2}', 'amountCents: is given twice'],
    ['{"amountCents":1,"nested":{"colours":[],"count":1,"count":1}}', 'nested.count: is given twice'],
    ['{"amountCents":1,"a\\"b":1,"a\\u0022b":1}', '"a\\"b": is given twice'],
  ])('the body %s is refused, and names the member that is unknown or twice', async (body, error) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { error } });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test('a name that a string holds, or that another object has, is not a member that stands twice', async () => {
    const body = String.raw`{"amountCents":1,"note":"\",\"","nested":{"colours":["red","red"],"count":1}}`;
    expect((await post(body)).status).toBe(201);
  });

  test('a body with thousands of unknown members names ten', async () => {
    const members = Array.from({ length: 3_000 }, (_, index) => `"member${index}":1`);
    const { status, body } = await post(`{${members.join(',')}}`);
    expect([status, body.error.split('; member').length]).toEqual([400, 10]);
  });

  test('a body has at most 64 kB', async () => {
    const empty = '{"amountCents":1}'.length;
    const padded = (bytes: number) => `{"amountCents":1${' '.repeat(bytes - empty)}}`;
    const [fits, tooLarge] = [padded(65_536), padded(65_537)];
    expect((await post(fits)).status).toBe(201);
    expect(await post(tooLarge)).toMatchObject({
      status: 413,
      body: { error: 'The body must have at most 65536 bytes' },
    });
  });

  test.each([
    ['', 200, undefined],
    ['{}', 200, undefined],
    ['{"amountCents":1}', 400, 'amountCents: is unknown: no member is known here'],
    ['not JSON', 400, 'The body is not JSON'],
  ])('the body %j of an operation without one is answered with %i', async (body, status, error) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await rest().send('/things/1', { method: 'DELETE', headers, body });
    expect(answer).toMatchObject({ status, body: error === undefined ? { deleted: true } : { error } });
  });
});

describe('a connection', () => {
  const head = [
    'POST /v1/things HTTP/1.1',
    'host: x',
    `authorization: Bearer ${KEY}`,
    'content-type: application/json',
  ];
  const raw = (lines: string[], body: string, until?: RegExp) =>
    sendRaw(port, `${[...head, ...lines].join('\r\n')}\r\n\r\n${body}`, until);

  test('a connection on which a chunked body is too large is refused and closed', async () => {
    const piece = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    const answer = await raw(['transfer-encoding: chunked'], piece.repeat(3));
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/connection: close/i);
    expect(answer).toContain('{"error":"The body must have at most 65536 bytes","code":"BAD_USER_INPUT"');
  });

  test('a request that announces a body that is too large is refused before the body is sent', async () => {
    expect(await raw(['content-length: 99999999'], '{')).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('a chunked body is read as a whole one', async () => {
    const answer = await raw(
      ['transfer-encoding: chunked'],
      'f\r\n{"amountCents":\r\n2\r\n5}\r\n0\r\n\r\n',
      /\}$/,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 201 /);
  });

  test('a request with less than the announced length changes nothing, and leaves the server working', async () => {
    expect(await raw(['content-length: 16'], '{"amountCents":1}', /}/)).toMatch(/^HTTP\/1\.1 400 /);
    const cut = raw(['content-length: 500'], '{"amountCents":1}', /never/);
    const other = await rest().get('/things');
    expect(other.status).toBe(200);
    server.server.closeAllConnections();
    await cut;
    expect(faults).toEqual([]);
  });

  test.each([
    ['two lengths', ['content-length: 17', 'content-length: 18']],
    ['a length and chunks', ['content-length: 17', 'transfer-encoding: chunked']],
    ['a negative length', ['content-length: -1']],
  ])('a request with %s is refused', async (_, lines) => {
    expect(await raw(lines, '{"amountCents":1}')).toMatch(/^HTTP\/1\.1 400 /);
  });
});

test('a client that leaves while its request is counted takes the place of no file', async () => {
  const [arrived, counted] = [deferred(), deferred()];
  const upload = restOperation({
    method: 'POST',
    path: '/v1/files',
    operationId: 'uploadFile',
    summary: 'Upload a file',
    tag: 'Things',
    body: uploadedFile({ mediaTypes: ['image/png'], maxBytes: 9 }),
    answers: { 201: { description: 'Kept', schema: z.object({ bytes: z.int() }) } },
    handle: async ({ body }) => ({ status: 201, body: { bytes: body.bytes.length } }),
  });
  server.serve(
    createRestRoutes({
      operations: [upload],
      access: { admit: () => undefined, authenticate: () => CALLERS[KEY]! },
      addressOf: () => '192.0.2.1',
      async takeRequest() {
        arrived.resolve();
        await counted.promise;
        return { admitted: true, limit: 120, remaining: 119, resetAt: clock.now() };
      },
      openFile: createOpenSlots({ tenant: 1, all: 1, noun: 'files' }),
      clock,
      onFault,
    }),
  );
  const connected = once(server.server, 'connection') as Promise<[Socket]>;
  const client = connect(port, '127.0.0.1');
  client.write(`POST /v1/files HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\n`);
  client.write('content-type: image/png\r\ncontent-length: 1\r\n\r\nx');
  const [served] = await connected;
  await arrived.promise;
  client.destroy();
  await once(served, 'close');
  counted.resolve();
  for (let time = 0; time < 2; time += 1) {
    const answer = await rest().send('/files', {
      method: 'POST',
      headers: { 'content-type': 'image/png' },
      body: 'x',
    });
    expect(answer).toMatchObject({ status: 201, body: { bytes: 1 } });
  }
  expect(faults).toEqual([]);
});

describe('a refusal', () => {
  test.each(Object.entries(REFUSALS))('the error %s has its status', async (code, [, status, error]) => {
    const answer = await rest().delete(`/things/${code}`);
    expect({ status: answer.status, body: answer.body }).toEqual({
      status,
      body: {
        error,
        code,
        retryPolicy: retryOf(code as RefusalCode),
        ...(code === 'RATE_LIMITED' && { retryAfterSeconds: 1800 }),
        ...(code === 'OUTCOME_UNKNOWN' && { lookupReference: 'look' }),
        ...(code === 'BAD_USER_INPUT' && {
          fields: [
            { path: 'amount.fixedCents', message: 'must be less' },
            { path: 'first', message: 'must be more' },
          ],
        }),
      },
    });
    expect(answer.headers.get('x-error-code')).toBe(code);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('ratelimit-remaining')).toBe('119');
    expect(answer.headers.get('retry-after')).toBe(status === 429 ? '1800' : null);
    expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
    expect(faults).toEqual([]);
  });

  test('an internal fault is answered without its message, and logged', async () => {
    const answer = await rest().delete('/things/broken');
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 500,
      body: { error: 'Internal error', code: 'INTERNAL_SERVER_ERROR', retryPolicy: 'LOOK_UP' },
    });
    expect(answer.headers.get('ratelimit-limit')).toBe('120');
    expect(faults).toMatchObject([{ message: 'a secret of the database' }]);
  });
});

describe('the requests of an account', () => {
  const window = (headers: Headers) =>
    ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`));

  test('an account has 120 requests a minute, over all its paths, keys and environments', async () => {
    clock.advance(60_000);
    expect(window((await rest().get('/things')).headers)).toEqual(['120', '119', '60']);
    clock.advance(30_500);
    expect(window((await rest('ps_test_unrestricted0000').get('/nowhere')).headers)).toEqual([
      '120',
      '118',
      '30',
    ]);
    expect(window((await rest().post('/things', {})).headers)).toEqual(['120', '117', '30']);
    for (let left = 117; left > 0; left -= 1)
      expect((await rest('ps_live_restricted000000').get('/things')).status).toBe(403);

    const refused = await rest().get('/things');
    expect(refused).toMatchObject({
      status: 429,
      body: { error: 'Rate limit exceeded: 120 requests a minute' },
    });
    expect(window(refused.headers)).toEqual(['120', '0', '30']);
    expect(refused.headers.get('retry-after')).toBe('30');
    expect((await rest('ps_live_other00000000000').get('/things')).status).toBe(200);
    expect((await rest('ps_live_unknown000000000').get('/things')).status).toBe(401);

    clock.advance(29_500);
    expect(window((await rest().get('/things')).headers)).toEqual(['120', '119', '60']);
  });
});

test('every random request is answered with JSON that is not an internal fault', async () => {
  clock.advance(60_000);
  const routes = createRestRoutes({
    operations,
    access: { admit: () => undefined, authenticate: async () => CALLERS[KEY]! },
    addressOf: () => '192.0.2.1',
    takeRequest: async () => ({ admitted: true, limit: 120, remaining: 119, resetAt: clock.now() }),
    openFile: () => () => undefined,
    clock,
    onFault,
  });
  server.serve(routes);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('/things', '/things/1', '/things/00ff/parts/1', '/elsewhere'),
      fc.constantFrom('GET', 'POST', 'DELETE', 'PUT'),
      fc.oneof(
        fc.json(),
        fc.string(),
        fc
          .record(
            { amountCents: fc.anything(), note: fc.anything(), nested: fc.anything() },
            { requiredKeys: [] },
          )
          .map((body) => text(body)),
      ),
      fc.webQueryParameters(),
      async (path, method, body, query) => {
        const answer = await rest().send(`${path}?${query}`, {
          method,
          ...(method === 'GET' ? {} : { body, headers: { 'content-type': 'application/json' } }),
        });
        expect([200, 201, 202, 400, 404, 405]).toContain(answer.status);
        if (answer.status < 400) return;
        const code = answer.headers.get('x-error-code') as ErrorCode;
        const { fields, ...refusal } = answer.body;
        expect(refusal).toEqual({ error: expect.stringMatching(/./), code, retryPolicy: retryOf(code) });
        const named = fields?.map(({ path: at, message }: FieldError) => `${at}: ${message}`).join('; ');
        if (fields) expect(refusal.error).toBe(named);
      },
    ),
    { numRuns: generated(1_000) },
  );
  expect(faults).toEqual([]);
});

/** Parses a text as JSON if it is JSON. */
function text(value: unknown): string {
  try {
    return JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member));
  } catch {
    return '{}';
  }
}

describe('mistakes in a declaration', () => {
  const start = (...declared: RestOperation[]) =>
    createRestRoutes({
      operations: declared,
      access: { admit: () => undefined, authenticate: async () => CALLERS[KEY]! },
      addressOf: () => '192.0.2.1',
      takeRequest: createRequestLimit({ limit: 120, clock }),
      openFile: () => () => undefined,
      clock,
      onFault,
    });
  const [create, , part] = operations as [RestOperation, RestOperation, RestOperation];

  test('two operations of one name are refused at the start', () => {
    expect(() => start(create, { ...create, path: '/v1/others' })).toThrow('createThing');
  });

  test('two operations of one path and method are refused at the start', () => {
    const path = '/v1/things/{thingId}/parts/{partId}';
    expect(() => start(part, { ...part, operationId: 'other', path })).toThrow('GET /v1/things/{}/parts/{}');
  });

  test('an operation that does not describe a field of its path is refused at the start', () => {
    expect(() => start({ ...create, path: '/v1/things/{id}' })).toThrow('/v1/things/{id}');
    expect(() => start({ ...part, path: '/v1/things/{id}/parts/{other}' })).toThrow('getPart');
  });
});
