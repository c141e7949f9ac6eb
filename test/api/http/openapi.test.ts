import { validate } from '@readme/openapi-parser';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CODE_ROWS } from '../../../server/src/kernel/error-codes.ts';
import { DESCRIBED_WEBHOOKS } from '../../../server/src/webhooks/sent-events.ts';
import { LIVE_KEY, startApp, TEST_KEY, type TestApp } from '../../support/app.ts';
import { createManualClock } from '../../support/clock.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { unknownMembersOf } from '../../support/misspelt.ts';

const clock = createManualClock();
let database: Awaited<ReturnType<typeof openFreshDatabase>>;
let app: TestApp;
// biome-ignore lint/suspicious/noExplicitAny: a test knows what it asks for
let description: any;
beforeAll(async () => {
  database = await openFreshDatabase(clock);
  app = await startApp({
    database,
    clock,
    environment: { PUBLIC_URL: 'https://pay.example/psa' },
  });
  description = (await describedBy()).body;
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

const base = () => `http://127.0.0.1:${app.port}`;
async function describedBy(init: RequestInit = {}) {
  const answer = await fetch(`${base()}/v1/openapi.json`, init);
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) };
}
/** Every operation, with the path and method that it stands under. */
// biome-ignore lint/suspicious/noExplicitAny: as above
const described = (): { path: string; method: string; operation: any }[] =>
  Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods as object).map(([method, operation]) => ({ path, method, operation })),
  );

describe('the OpenAPI description', () => {
  test('the description is OpenAPI 3.1 by its meta-schema', async () => {
    expect(description.openapi).toBe('3.1.1');
    // The parser replaces each reference in the description that it is given.
    expect(await validate(structuredClone(description))).toEqual(
      expect.objectContaining({ valid: true, warnings: [] }),
    );
  });

  test('the description has every event that the server sends', () => {
    expect(Object.keys(description.webhooks)).toEqual(DESCRIBED_WEBHOOKS.map(({ event }) => event));
  });

  test('without extensions the description has the 29 operations of the document', () => {
    const named = (...origins: string[]) =>
      described()
        .filter(({ operation }) => origins.includes(operation['x-psa-origin']))
        .map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(named('document')).toHaveLength(11);
    expect(new Set(named('document', 'decided')).size).toBe(29);
    expect(named('document', 'decided', 'extension')).toHaveLength(described().length);
    expect(named('extension')).toEqual(
      expect.arrayContaining(['GET /v1/payments', 'GET /v1/refunds/{refundId}']),
    );
  });

  test('the description needs no key, and is not counted as a request of an account', async () => {
    const { status, headers } = await describedBy();
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('ratelimit-limit')).toBeNull();
  });

  test('the description is not sent again to a client with its etag', async () => {
    const { headers } = await describedBy();
    const again = await describedBy({ headers: { 'if-none-match': headers.get('etag')! } });
    expect([again.status, again.body]).toEqual([304, null]);
  });

  test('the description is answered to no other method', async () => {
    const { status, headers, body } = await describedBy({ method: 'POST' });
    expect([status, headers.get('allow'), body]).toMatchObject([
      405,
      'GET, HEAD',
      { error: 'Method not allowed' },
    ]);
  });

  test('the description has the server’s address, the version and the security scheme', () => {
    expect(description.servers).toEqual([{ url: 'https://pay.example/psa' }]);
    expect(description.info.version).toBe('1.0.0');
    expect(description.security).toEqual([{ apiKey: [] }]);
    expect(description.components.securitySchemes.apiKey).toMatchObject({ type: 'http', scheme: 'bearer' });
  });

  test('the description has one schema for all errors, open to members and values of later versions', () => {
    const { Error: schema } = description.components.schemas;
    expect(schema).toMatchObject({
      properties: { error: { type: 'string' }, code: { type: 'string' }, retryPolicy: { type: 'string' } },
      required: ['error', 'code', 'retryPolicy'],
    });
    expect(JSON.stringify(schema)).not.toMatch(/"additionalProperties"|"enum"/);
    for (const [code, { only }] of CODE_ROWS)
      expect(schema.properties.code.description.includes(`\`${code}\``)).toBe(only !== 'GraphQL');
  });
});

describe('each operation', () => {
  test('every operation has an own name, a description, a group, and its answers with their headers', () => {
    const names = described().map(({ operation }) => operation.operationId);
    expect(names.length).toBeGreaterThanOrEqual(5);
    expect(new Set(names).size).toBe(names.length);
    for (const { operation } of described()) {
      expect(operation.summary).toMatch(/^[A-Z].*[^.]$/);
      expect(operation.description).toContain('key');
      expect(description.tags).toContainEqual({
        name: operation.tags[0],
        description: expect.stringMatching(/\.$/),
      });
      const statuses = Object.keys(operation.responses);
      expect(statuses).toEqual(expect.arrayContaining(['401', '403', '429', '500', '503', '504']));
      expect(statuses.some((status) => status.startsWith('2'))).toBe(true);
      for (const [status, answer] of Object.entries(operation.responses)) {
        const { content, headers } = resolved(answer);
        const [{ schema }] = Object.values<{ schema: unknown }>(content) as [{ schema: unknown }];
        if (Number(status) >= 400) expect(schema).toEqual({ $ref: '#/components/schemas/Error' });
        // 401 and 503 may be sent before the caller is known, and so without the headers of a limit.
        if (status !== '401' && status !== '503')
          expect(Object.keys(headers)).toContain('RateLimit-Remaining');
      }
      expect(Object.keys(resolved(operation.responses['503']).headers)).toContain('Retry-After');
      expect(Object.keys(resolved(operation.responses['504']).headers)).not.toContain('Retry-After');
    }
  });

  test('every operation describes the parameters of its path, and its body where it has one', () => {
    for (const { path, method, operation } of described()) {
      const inPath = operation.parameters.filter((parameter: { in: string }) => parameter.in === 'path');
      expect(inPath.map(({ name }: { name: string }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(inPath.every(({ required }: { required: boolean }) => required)).toBe(true);
      if (method !== 'post') expect(operation.requestBody).toBeUndefined();
      if (operation.requestBody) {
        expect(operation.responses['400']).toBeDefined();
        expect(operation.responses['413']).toBeDefined();
      }
    }
  });

  test('every operation with a page describes the limits of a page', () => {
    const { parameters, responses } = description.paths['/v1/card-payments'].get;
    expect(parameters.slice(0, 3)).toEqual([
      {
        name: 'limit',
        in: 'query',
        required: false,
        schema: { type: 'integer', minimum: 1, maximum: 100, default: 50, format: 'int64' },
      },
      {
        name: 'offset',
        in: 'query',
        required: false,
        schema: { type: 'integer', minimum: 0, maximum: 9007199254740991, default: 0, format: 'int64' },
      },
      {
        name: 'status',
        in: 'query',
        required: false,
        description: 'Selects those with any of these, divided by commas',
        style: 'form',
        explode: false,
        schema: {
          type: 'array',
          items: { type: 'string', enum: ['pending', 'paid', 'expired', 'refunded', 'failed'] },
          minItems: 1,
        },
      },
    ]);
    expect(responses['200'].content['application/json'].schema.required).toEqual([
      'cardPayments',
      'total',
      'limit',
      'offset',
    ]);
  });

  test('every operation with a body of JSON has an example', () => {
    const bodies = described().flatMap(
      ({ operation }) => operation.requestBody?.content['application/json'] ?? [],
    );
    expect(bodies.length).toBeGreaterThan(0);
    for (const { example } of bodies) expect(example).toBeDefined();
  });

  test('every operation is answered at its path, with success or with a refusal', async () => {
    for (const { path, method } of described()) {
      const answer = await fetch(`${base()}${path.replaceAll(/\{\w+\}/g, 'unknown')}`, {
        method: method.toUpperCase(),
        headers: { authorization: `Bearer ${TEST_KEY}` },
      });
      expect(answer.status).not.toBe(405);
      expect(answer.headers.get('x-error-code')).not.toBe('ROUTE_NOT_FOUND');
    }
  });
});

describe('law: a body has no member that the description does not show', () => {
  test('Each example with a member that is unknown or misspelt, at any depth, is refused by its name, and nothing changes', async () => {
    const writing = described().filter(({ operation }) => operation.requestBody?.content['application/json']);
    expect(writing.length).toBeGreaterThan(10);
    const before = await rowCounts();
    let count = 0;
    for (const { path, operation } of writing) {
      const { schema, example } = operation.requestBody.content['application/json'];
      const rest = app.rest(path.startsWith('/v1/sandbox') ? TEST_KEY : LIVE_KEY, base());
      for (const { body, name, meant } of unknownMembersOf(schema, example)) {
        const answer = await rest.post(pathOf(path, operation.parameters).replace('/v1', ''), body);
        expect([path, JSON.stringify(body), answer.status, answer.body.error]).toEqual([
          path,
          JSON.stringify(body),
          400,
          expect.stringContaining(`${name}: is unknown; ${meant === null ? '' : `${meant} may be meant`}`),
        ]);
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(150);
    expect(await rowCounts()).toEqual(before);
  });

  test('Each object of a request is closed, and each of an answer is open', () => {
    for (const { operation } of described()) {
      const { requestBody, responses } = operation;
      for (const { schema } of Object.values<{ schema: object }>(requestBody?.content ?? {}))
        expect(objectsIn(schema)).not.toContain(undefined);
      const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      for (const [, answer] of answers) expect(objectsIn(answer)).not.toContain(false);
    }
  });
});

/** The `additionalProperties` of each object in a schema. */
function objectsIn(schema: unknown): unknown[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own =
    'properties' in schema ? [(schema as { additionalProperties?: unknown }).additionalProperties] : [];
  return [...own, ...Object.values(schema).flatMap(objectsIn)];
}

/** A path with an identifier of the right form in place of each parameter. */
// biome-ignore lint/suspicious/noExplicitAny: as above
function pathOf(path: string, parameters: any[]): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const { schema } = parameters.find((each) => each.in === 'path' && each.name === name);
    if (schema.examples) return schema.examples[0];
    return path.startsWith('/v1/subaccounts') ? `sacc_${'0'.repeat(32)}` : `PSC-${'0'.repeat(24)}`;
  });
}

/** The number of rows in each table. */
async function rowCounts(): Promise<unknown> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public' order by 1`.execute(
    database.sql,
  );
  const counts = rows.map(({ name }) => `select '${name}' as name, count(*)::int as count from "${name}"`);
  return (await sql.raw(counts.join(' union all ')).execute(database.sql)).rows;
}

/** A response's schema, in place or at its reference. */
// biome-ignore lint/suspicious/noExplicitAny: as above
function resolved(answer: any) {
  const name = answer.$ref?.replace('#/components/responses/', '');
  return name ? description.components.responses[name] : answer;
}
