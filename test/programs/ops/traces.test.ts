import { readFileSync } from 'node:fs';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { isTracing } from '../../../server/src/kernel/traces.ts';
import { createLog } from '../../../server/src/programs/ops/log.ts';
import { LIVE_KEY, startApp } from '../../support/app.ts';
import { type CollectedSpan, type Collector, startCollector } from '../../support/collector.ts';
import { startPair } from '../../support/pair.ts';

afterEach(() => expect(isTracing()).toBe(false));

async function collector(): Promise<Collector> {
  const started = await startCollector();
  onTestFinished(() => started.close());
  return started;
}

const THEIRS = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };
const TRACEPARENT = { traceparent: `00-${THEIRS.trace}-${THEIRS.span}-01` };

/** A traceparent whose sender does not sample the trace. */
const UNWANTED = { traceparent: `00-${'f'.repeat(32)}-${THEIRS.span}-00` };

/** The names of a trace's spans, each after the spans around it. */
function tree(spans: readonly CollectedSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const pathOf = (span: CollectedSpan): string => {
    const parent = byId.get(span.parentSpanId ?? '');
    return parent ? `${pathOf(parent)} > ${span.name}` : span.name;
  };
  return [...new Set(spans.map(pathOf))].sort();
}

const REQUEST_PAYOUT = `mutation ($input: RequestPayoutInput!) {
  requestPayout(input: $input) { __typename ... on UserError { code message } }
}`;

test('One trace spans a query and its SQL as part of the caller’s trace, and names a refusal by its code', async () => {
  const { url, bodies, spans, headers } = await collector();
  const lines: string[] = [];
  const app = await startApp({
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=k1',
      OTEL_SERVICE_NAME: 'shop',
      PSA_LOG_SLOW_MS: '0',
    },
    log: createLog({ write: (line) => void lines.push(line) }),
  });
  await app.client(LIVE_KEY, TRACEPARENT).request('{ wallet { balanceCents } }');
  await app.live.request(REQUEST_PAYOUT, {
    input: { amountCents: 2_500, method: 'PIX', destination: 'ana@example.com', idempotencyKey: 'a' },
  });
  await app.client(LIVE_KEY, UNWANTED).request('{ wallet { balanceCents } }');
  await app.close();

  const { attributes } = JSON.parse(bodies[0]!).resourceSpans[0].resource;
  const { version } = JSON.parse(
    readFileSync(new URL('../../../server/package.json', import.meta.url), 'utf8'),
  );
  expect(attributes).toEqual([
    { key: 'service.name', value: { stringValue: 'shop' } },
    { key: 'service.version', value: { stringValue: version } },
    { key: 'service.instance.id', value: { stringValue: expect.stringMatching(/^[0-9a-f]{24}$/) } },
  ]);
  const logged = lines.map((line) => JSON.parse(line)).filter(({ traceId }) => traceId === THEIRS.trace);
  expect(logged).toEqual([
    expect.objectContaining({ operation: 'query wallet', outcome: 'ok' }),
    expect.objectContaining({ route: '/graphql', status: 200 }),
  ]);

  const ours = spans.filter(({ traceId }) => traceId === THEIRS.trace);
  const request = ours.find(({ name }) => name === 'POST /graphql')!;
  expect(request).toMatchObject({ parentSpanId: THEIRS.span, kind: 2 });
  expect(request.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: 200 } });
  const paths = tree(ours);
  expect(paths).toContain('POST /graphql > query wallet');
  expect(paths).toContain('POST /graphql > select api_key');
  expect(paths).toContain('POST /graphql > query wallet > select ledger_account');
  expect(headers[0]!['x-collector-key']).toBe('k1');

  const refused = spans.find(({ name }) => name === 'mutation requestPayout')!;
  expect(refused.status.code).toBe(2);
  expect(refused.attributes).toContainEqual({
    key: 'error.type',
    value: { stringValue: 'INSUFFICIENT_FUNDS' },
  });
  expect(spans.filter(({ traceId }) => traceId === 'f'.repeat(32))).toEqual([]);
});

test('The request of an event stream that Accept names by a wildcard is a span, which ends with the stream', async () => {
  const { url, spans } = await collector();
  const app = await startApp({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: url } });
  const stream = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${LIVE_KEY}`, 'content-type': 'application/json', accept: 'text/*' },
    body: JSON.stringify({ query: 'subscription { walletUpdates { wallet { balanceCents } } }' }),
  });
  expect(stream.headers.get('content-type')).toContain('text/event-stream');
  await stream.body!.cancel();
  await app.close();
  expect(tree(spans)).toContain('POST /graphql > subscription walletUpdates');
});

test('One trace spans a facade’s query, the service and its SQL, and contains no secret', async () => {
  const { url, bodies, spans } = await collector();
  const pair = await startPair({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: url } });
  const client = pair.facade.client(pair.keys.live, TRACEPARENT);
  await client.request('{ wallet { balanceCents } }');
  const { updatesCursor: after } = await pair.facade.live.request('{ updatesCursor }');
  const follow = 'subscription ($after: String) { allPayoutUpdates(after: $after) { payout { status } } }';
  const stream = pair.facade.live.ws(follow, { after });
  const first = stream.next();
  const { createCheckoutToken } = await pair.facade.live.request(`mutation {
    createCheckoutToken(input: {
      amount: { fixedCents: 4990 }, description: "segredo", customer: { email: "ana.secret@example.com", name: "Ana Secreta" }
    }) { ... on CreateCheckoutTokenSuccess { token } ... on UserError { message } }
  }`);
  await pair.service.controls.credit({ accountId: pair.accountIds.service, environment: 'live' }, 100_000);
  await pair.facade.client(pair.keys.live, TRACEPARENT).request(REQUEST_PAYOUT, {
    input: {
      amountCents: 2_500,
      method: 'PIX',
      destination: 'pix.secret@example.com',
      idempotencyKey: 'secret-key-7',
    },
  });
  await pair.pass(3_000);
  await first;
  await stream.close();
  const events = pair.service.live.sse('subscription { walletUpdates { wallet { balanceCents } } }');
  await events.data();
  await events.close();
  await pair.close();

  const paths = tree(spans.filter(({ traceId }) => traceId === THEIRS.trace));
  const asked = 'POST /graphql > query wallet > GET /v1/wallet';
  expect(paths).toContain(asked);
  expect(paths.filter((path) => path.startsWith(`${asked} > GET /v1/wallet`))).not.toEqual([]);
  expect(paths.some((path) => path.startsWith(`${asked} > GET /v1/wallet > select`))).toBe(true);
  const paid = 'POST /graphql > mutation requestPayout';
  expect(
    paths.some(
      (path) =>
        path.startsWith(paid) &&
        path.includes('POST /v1/payouts > POST /v1/payouts > change > transaction > insert'),
    ),
  ).toBe(true);
  expect(spans.map(({ name }) => name)).not.toContain('select unnest');
  expect(spans.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'select idempotency',
      'subscription allPayoutUpdates',
      'task webhook.deliver',
      'webhook attempt',
      'POST /webhooks/psa',
    ]),
  );
  // A stream is open for hours: the request that opens it is traced, and the stream is not.
  const opened = spans.filter(({ name }) => name === 'subscription walletUpdates');
  expect(opened.map(({ parentSpanId }) => parentSpanId ?? '')).toEqual(['']);
  // The receiver of a webhook is another system, and gets no traceparent.
  const received = spans.filter(({ name }) => name === 'POST /webhooks/psa');
  expect(received.map(({ parentSpanId }) => parentSpanId ?? '')).toEqual(received.map(() => ''));

  const everything = bodies.join('\n');
  for (const secret of [
    ...Object.values(pair.keys),
    ...Object.values(pair.webhookSecrets),
    createCheckoutToken.token,
    'secret',
    'ecret',
    'segredo',
    '@example',
    'whsec_',
    'ps_live_',
    'Bearer',
    pair.proxy.url,
  ])
    expect(everything).not.toContain(secret);
});

test('a collector that takes nothing keeps nobody from being served, and is complained of once', async () => {
  const receiver = await collector();
  receiver.status = 400;
  const warned: { fields: object; message: string }[] = [];
  const quiet = { info: () => undefined, error: () => undefined };
  const app = await startApp({
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=hidden' },
    log: { ...quiet, warn: (fields, message) => warned.push({ fields, message }) },
  });
  expect(await app.live.request('{ wallet { balanceCents } }')).toEqual({ wallet: { balanceCents: 0 } });
  await app.close();
  expect(warned.map(({ message }) => message)).toEqual(['Traces are lost: the collector does not take them']);
  expect(JSON.stringify(warned)).not.toContain('hidden');
});
