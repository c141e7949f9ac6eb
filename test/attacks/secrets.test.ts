import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLog } from '../../server/src/programs/ops/log.ts';
import { LIVE_KEY, startApp } from '../support/app.ts';
import { startCollector } from '../support/collector.ts';
import { captureOutput } from '../support/log-capture.ts';
import { openRawSocket } from '../support/raw-socket.ts';
import { findSecrets, mask, scanOutput } from '../support/secrets.mjs';

// The output of every server in every test is searched for secrets at the end of `npm test`. These tests show
// that the search finds each form of a secret, mistakes nothing else for one, and gets all output.

/** Each secret in a form in which a log line could have it. */
const SECRETS: [kind: string, secret: string][] = [
  ['an API key or token', 'ps_live_test0123456789abcdef'],
  ['an API key or token', `ps_test_${'a'.repeat(43)}`],
  ['an API key or token', `ps_checkout_${'-'.repeat(43)}`],
  ['an API key or token', `ps_payment_${'9'.repeat(43)}`],
  ['an API key or token', `ps_dashboard_${'Z'.repeat(43)}`],
  ['a webhook secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ['a credential', 'Bearer abcdefghijklmnop'],
  ['a credential', 'basic YW5hOnNlbmhh'],
  ['a password in a URL', 'postgres://psa:secret@127.0.0.1'],
  ['an e-mail', 'maria.silva+loja@exemplo.com.br'],
  ['a card number', '4242424242424242'],
  ['a card number', '5555 5555 5555 4444'],
  ['a card number', '4000-0000-0000-0002'],
  ['a card number', '378282246310005'],
  ['a CPF', '12345678909'],
  ['a CPF', '123.456.789-09'],
  ['a CNPJ', '11.222.333/0001-81'],
  ['a CNPJ', '12.ABC.345/01DE-35'],
  ['a CNPJ without punctuation', '11222333000181'],
  ['a CNPJ without punctuation', '12ABC34501DE35'],
  ['a telephone', '+5511987654321'],
  ['a random PIX key', '123e4567-e89b-42d3-a456-426614174000'],
];

describe('a secret', () => {
  test.each(SECRETS)(
    'A secret such as %s is found wherever it stands, and shown masked: %s',
    (kind, secret) => {
      for (const line of [
        `{"level":"error","err":{"message":"no such thing: ${secret}"}}`,
        `{"path":"input.pixKey","message":"${secret} is wrong"}`,
        `${secret}`,
        `Key (external_id)=(${secret}) already exists`,
        `psa_requests_total{route="/v1/${secret}"}`,
      ]) {
        expect(
          findSecrets(line).map((found) => found.kind),
          line,
        ).toContain(kind);
        expect(mask(line)).not.toContain(secret);
      }
    },
  );

  test.each([
    '{"level":"info","time":"2026-11-22T03:42:44.072Z","durationMs":12345678909.5,"status":200}',
    'at async file:///srv/node_modules/.pnpm/kysely@0.28.18/node_modules/kysely/dist/esm/driver.js:95:49',
    'node_modules/.pnpm/@pothos+plugin-errors@4.9.3_@pothos+core@4.15.1_graphql@16.15.0/index.js:131:32',
    '{"traceId":"0af7651916cd43dd8448eb211c80319c","startTimeUnixNano":"1772452800000000000"}',
    '{"orderCode":"PSC-00000000000000000000","withdrawalId":"424242424242424242424242"}',
    '{"pixKey":"***.456.789-**","other":"m***@example.com","last":"****4321","cnpj":"**.222.333/0001-**"}',
    'no such key: ps_live_…, whsec_…',
    'http://127.0.0.1:4000/graphql?query={__typename}',
    'psa_task_seconds_bucket{le="0.005",kind="webhook.deliver"}',
    '{"spanId":"4242424242424242","parentSpanId":"5555555555554444"}',
    '{"acc":"acc_4208873578834f8b96d844b3","sub":"sacc_0123456789abcdef0123456789abcdef"}',
  ])('No secret is found in a line without one: %s', (line) => {
    expect(findSecrets(line)).toEqual([]);
  });
});

describe('what a server says', () => {
  test('Everything that a server writes is searched: its log, its refusals, its metrics and its traces', async () => {
    const folder = collecting();
    const collector = await startCollector();
    onTestFinished(() => collector.close());
    const app = await startApp({
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, PSA_LOG_SLOW_MS: '0' },
    });
    const { body } = await app.live.send('{ nothing }');
    expect(body.errors).toHaveLength(1);
    await app.live.request(
      'mutation { deleteProduct(productId: "x") { ... on UserError { code message } } }',
    );
    await app.rest().get('/payouts/unknown');
    const socket = openRawSocket(app.url);
    await socket.init(LIVE_KEY);
    socket.send({ id: 'a', type: 'subscribe', payload: { query: 'subscription { nothing }' } });
    expect((await socket.next()).type).toBe('error');
    socket.socket.terminate();
    await app.live.sse('subscription { nothing }').next();
    await app.close();
    const { counts, found } = scanOutput(folder);
    expect(found).toEqual([]);
    expect(counts.error).toBeGreaterThanOrEqual(5);
    for (const kind of ['log', 'metrics', 'trace']) expect(counts[kind], kind).toBeGreaterThan(0);
  });

  test('A secret that is planted in any kind of output is found, and reported without its text', () => {
    const folder = collecting();
    for (const kind of ['log', 'error', 'metrics', 'trace'] as const)
      captureOutput(kind, `psa_x{a="${SECRETS[0]![1]}"} 1\nnothing`);
    const { counts, found } = scanOutput(folder);
    expect(counts).toEqual({ log: 2, error: 2, metrics: 2, trace: 2 });
    expect(found).toHaveLength(4);
    for (const line of found) {
      expect(line).toMatch(/^attacks\/secrets\.test\.ts: an API key or token in (log|error|metrics|trace): /);
      expect(line).not.toContain(SECRETS[0]![1]);
    }
  });

  test('The log shows no secret of a row that the database refuses', async () => {
    const lines: string[] = [];
    const app = await startApp({ log: createLog({ write: (line) => void lines.push(line) }) });
    const { id: accountId } = await app.database.sql
      .selectFrom('account')
      .select('id')
      .executeTakeFirstOrThrow();
    await app.controls.credit({ accountId, environment: 'live' }, 1_000_000);
    for (const table of ['payout', 'subaccount', 'card_payment', 'payment', 'token'])
      await sql`alter table ${sql.table(table)} add constraint refused check (false) not valid`.execute(
        app.database.sql,
      );
    const customer = { name: 'Ana', email: 'ana@example.com', taxId: '12345678909' };
    for (const [mutation, type, input] of [
      [
        'requestPayout',
        'RequestPayoutInput',
        { method: 'PIX', amountCents: 5000, destination: 'maria@example.com' },
      ],
      [
        'requestPayout',
        'RequestPayoutInput',
        { method: 'PIX', amountCents: 5000, destination: '12345678909' },
      ],
      ['createSubaccount', 'CreateSubaccountInput', { name: 'Ana', externalId: 'ana@example.com' }],
      ['createCardPayment', 'CreateCardPaymentInput', { valueCents: 5000, customer }],
      ['createPayment', 'CreatePaymentInput', { valueCents: 5000, customer }],
      ['createCheckoutToken', 'CreateCheckoutTokenInput', { amount: { fixedCents: 5000 }, customer }],
    ] as const) {
      const { status, body } = await app.live.send(
        `mutation ($input: ${type}!) { ${mutation}(input: $input) { __typename } }`,
        { input },
      );
      expect([status, body.errors[0].message]).toEqual([500, 'Internal error']);
    }
    expect(lines).toHaveLength(6);
    expect(lines.flatMap((line) => findSecrets(line))).toEqual([]);
    await app.close();
  });

  test.each(SECRETS)('The logged text of an error contains no secret such as %s: %s', (_, secret) => {
    const lines: string[] = [];
    const log = createLog({ write: (line) => void lines.push(line) });
    log.error({ err: new Error(`invalid input syntax: "${secret}"`) }, 'a fault');
    log.error({ err: new Error('outer', { cause: new Error(`of (${secret})`) }) }, 'a fault');
    log.error({ err: `thrown ${secret}` }, 'a fault');
    expect(lines.flatMap((line) => findSecrets(line))).toEqual([]);
    expect(lines.join()).toContain('invalid input syntax');
  });
});

/** Collects this test's log lines, which the search of the whole run leaves out. */
function collecting(): string {
  const before = process.env.PSA_TEST_SAID;
  const folder = mkdtempSync(join(tmpdir(), 'psa-said-'));
  process.env.PSA_TEST_SAID = folder;
  onTestFinished(() => {
    if (before === undefined) delete process.env.PSA_TEST_SAID;
    else process.env.PSA_TEST_SAID = before;
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
