import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Route } from '../../../server/src/api/http/routes.ts';
import { NotFoundError } from '../../../server/src/kernel/errors.ts';
import { createHealthRoutes } from '../../../server/src/programs/ops/health.ts';
import { createMetrics } from '../../../server/src/programs/ops/metrics.ts';
import { createMetricsRoutes } from '../../../server/src/programs/ops/metrics-route.ts';
import { createUpstreamMetrics } from '../../../server/src/programs/ops/upstream-metrics.ts';
import type { BudgetState, UpstreamState } from '../../../server/src/upstream/upstream.ts';
import { LIVE_KEY, startApp } from '../../support/app.ts';
import { byClass } from '../../support/by-class.ts';
import { createManualClock } from '../../support/clock.ts';
import { deferred } from '../../support/deferred.ts';
import { readMetrics } from '../../support/scrape.ts';

const NOBODY = { priority: 'merchant', subject: null, onRead: () => undefined } as const;

const STATE: UpstreamState = {
  circuit: 'open',
  circuits: byClass((each) => (each === 'payer' ? 'open' : 'closed')),
  since: new Date('2026-03-02T12:00:00.000Z'),
  lastAnswerAt: new Date('2026-03-02T11:59:00.000Z'),
  pagesSince: null,
  refusedKeys: [],
};
const BUDGET: BudgetState = {
  limit: 120,
  windowMs: 60_000,
  used: { ...byClass(() => 0), money: 1, query: 2, poll: 40 },
  asOf: null,
  blockedUntil: new Date(1_772_452_800_000),
};

async function serve(routes: Route[]): Promise<string> {
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://localhost');
    void routes.find(({ path }) => path.test(url.pathname))!.handle({ request, response, url, params: {} });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('/metrics tells of the process', async () => {
  const answer = await fetch(`${await serve(createMetricsRoutes())}/metrics`);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const text = await answer.text();
  expect(text).toContain('process_resident_memory_bytes ');
  expect(text).not.toContain('psa_upstream');
});

test('/metrics tells of the upstream: requests, their time, reads, the budget, the circuit', async () => {
  const metrics = createUpstreamMetrics();
  metrics.onOutcome('money', 'answered', 0.02, 'POST /v1/payouts');
  metrics.onOutcome('poll', 'no_slot', null, 'GET /v1/payouts');
  metrics.onTurn('money', 0.3);
  metrics.onRead('query', 'stale');
  metrics.watch({ state: () => STATE, budget: () => BUDGET });
  const text = await (await fetch(`${await serve(createMetricsRoutes(metrics.registry))}/metrics`)).text();
  for (const line of [
    'psa_upstream_requests_total{class="money",outcome="answered"} 1',
    'psa_upstream_requests_total{class="poll",outcome="no_slot"} 1',
    'psa_upstream_request_seconds_bucket{le="0.01",endpoint="POST /v1/payouts",outcome="answered"} 0',
    'psa_upstream_request_seconds_bucket{le="0.025",endpoint="POST /v1/payouts",outcome="answered"} 1',
    'psa_upstream_request_seconds_bucket{le="+Inf",endpoint="POST /v1/payouts",outcome="answered"} 1',
    'psa_upstream_request_seconds_sum{endpoint="POST /v1/payouts",outcome="answered"} 0.02',
    'psa_upstream_request_seconds_count{endpoint="POST /v1/payouts",outcome="answered"} 1',
    'psa_upstream_turn_seconds_bucket{le="0.25",class="money"} 0',
    'psa_upstream_turn_seconds_bucket{le="0.5",class="money"} 1',
    'psa_upstream_reads_total{class="query",source="stale"} 1',
    'psa_upstream_budget_used{class="poll"} 40',
    'psa_upstream_budget_limit 120',
    'psa_upstream_blocked_until_seconds 1772452800',
    'psa_upstream_circuit{class="payer",state="open"} 1',
    'psa_upstream_circuit{class="payer",state="closed"} 0',
    'psa_upstream_circuit{class="money",state="closed"} 1',
    'process_resident_memory_bytes ',
  ])
    expect(text).toContain(line);
  expect(text).not.toContain('psa_upstream_request_seconds_count{endpoint="GET /v1/payouts"');
});

test('/metrics tells what a server has done, by names of ours alone', async () => {
  const app = await startApp();
  const scrape = async () => readMetrics(await (await fetch(`${app.url}/metrics`)).text());
  await app.live.request('query hidden { hidden: wallet { balanceCents } wallet { balanceCents } }');
  // Repeated queries are answered in front of Yoga, and are counted as before.
  for (let times = 0; times < 5; times += 1) await app.live.request('{ wallet { balanceCents } }');
  await app.client('ps_live_hidden0123456789').send('{ wallet { balanceCents } }');
  await app.live.send('{ hidden }');
  await app.live.request(
    `mutation ($input: RequestPayoutInput!) { requestPayout(input: $input) { __typename } }`,
    { input: { amountCents: 2_500, method: 'PIX', destination: 'hidden@example.com' } },
  );
  const { accountId } = (await app.servicesFor(NOBODY).access.authenticate(`Bearer ${LIVE_KEY}`)).tenant;
  const followed = 'subscription hidden { walletUpdates { wallet { balanceCents } } }';
  const streams = [app.live.ws(followed), app.live.ws(followed), app.live.sse(followed)];
  for (const stream of streams) await stream.data();
  // A stream may send its first answer before it stands at the live end.
  const next = Promise.all(streams.map((stream) => stream.data()));
  await app.controls.credit({ accountId, environment: 'live' }, 10_000);
  await next;
  await app.rest().get('/wallet');
  await app.rest().get('/subaccounts/hidden');
  await fetch(`${app.url}/hidden`);
  const text = await (await fetch(`${app.url}/metrics`)).text();
  expect(text).not.toContain('hidden');
  const { value } = await scrape();
  const field = (kind: string, field: string, outcome: string) =>
    value('psa_graphql_root_fields_total', { kind, field, outcome });
  expect(field('query', 'wallet', 'ok')).toBe(7);
  expect(field('mutation', 'requestPayout', 'INSUFFICIENT_FUNDS')).toBe(1);
  expect(value('psa_graphql_root_field_seconds_count', { kind: 'query', field: 'wallet' })).toBe(7);
  const answered = (route: string, status: string) => value('psa_http_requests_total', { route, status });
  expect(answered('/graphql', '200')).toBe(8);
  expect(answered('/graphql', '401')).toBe(1);
  expect(answered('/v1/wallet', '200')).toBe(1);
  expect(answered('/v1/subaccounts/{id}', '400')).toBe(1);
  expect(answered('none', '404')).toBe(1);
  const subscribers = (transport: string) => value('psa_graphql_subscribers', { transport, topic: 'wallet' });
  expect([subscribers('ws'), subscribers('sse')]).toEqual([2, 1]);
  expect(field('subscription', 'walletUpdates', 'ok')).toBe(3);
  expect(value('psa_graphql_deliveries_total')).toBeGreaterThan(0);
  expect(value('psa_graphql_fan_out_seconds_count')).toBeGreaterThan(0);
  expect(value('psa_ledger_transactions_total')).toBe(1);
  expect(value('psa_ledger_postings_total')).toBe(2);
  expect(value('psa_commit_group_commands_count')).toBeGreaterThanOrEqual(2);
  expect(value('psa_commit_seconds_count')).toBe(value('psa_commit_group_commands_count'));
  expect(value('psa_database_statement_seconds_count', { kind: 'select' })).toBeGreaterThan(0);
  expect(value('psa_database_statement_seconds_count', { kind: 'commit' })).toBeGreaterThan(0);
  expect(value('psa_database_wait_seconds_count')).toBeGreaterThan(0);
  expect(value('psa_database_waiting')).toBe(0);
  expect(value('psa_info', { mode: 'embedded', engine: app.database.engine })).toBe(1);
  for (const stream of streams) await stream.close();
  await app.close();
});

test('/metrics tells what waits, and for how long, and no scrape waits for the database', async () => {
  const clock = createManualClock();
  const metrics = createMetrics(clock);
  const dueAt = new Date(clock.now().getTime() - 90_000);
  const nextDueAt = new Date(clock.now().getTime() + 30_000);
  let asked = 0;
  const silence = deferred<never[]>();
  const stop = metrics.watch({
    info: { mode: 'embedded', engine: 'postgres' },
    connections: () => ({ inUse: 3, idle: 7, waiting: 2 }),
    unready: () => 'disk_full',
    behind: () => null,
    endpoints: async () => [{ status: 'failing', count: 3 }],
    async backlog() {
      asked += 1;
      if (asked === 2) throw new Error('the database is away');
      if (asked === 3) return silence.promise;
      return [{ kind: 'webhook.deliver', due: 4, underWay: 2, later: 1, oldestDueAt: dueAt, nextDueAt }];
    },
    verified: async () => [
      { law: 'log-head', findings: 0, verifiedAt: clock.now() },
      { law: 'balance-is-sum', findings: 2, verifiedAt: dueAt },
    ],
  });
  const url = await serve(createMetricsRoutes(metrics.registry));
  const scrape = async () => readMetrics(await (await fetch(`${url}/metrics`)).text());
  const { value } = await scrape();
  const kind = 'webhook.deliver';
  expect(value('psa_tasks_waiting', { kind, state: 'due' })).toBe(4);
  expect(value('psa_tasks_waiting', { kind, state: 'under_way' })).toBe(2);
  expect(value('psa_tasks_waiting', { kind, state: 'later' })).toBe(1);
  expect(value('psa_tasks_oldest_due_seconds', { kind })).toBe(90);
  expect(value('psa_tasks_next_due_seconds', { kind })).toBe(30);
  expect(value('psa_webhook_endpoints', { status: 'failing' })).toBe(3);
  expect(value('psa_database_connections', { state: 'in_use' })).toBe(3);
  expect(value('psa_database_connections', { state: 'idle' })).toBe(7);
  expect(value('psa_database_waiting')).toBe(2);
  expect(value('psa_verify_findings', { law: 'balance-is-sum' })).toBe(2);
  // The law that was decided the longest time ago.
  expect(value('psa_verify_age_seconds')).toBe(90);
  expect(asked).toBe(1);
  clock.advance(4_000);
  expect((await scrape()).value('psa_tasks_oldest_due_seconds', { kind })).toBe(94);
  expect(asked).toBe(1);
  // The database refuses the first count, and then does not answer: the last count is shown for a while, and no other
  // is begun.
  clock.advance(1_000);
  expect((await scrape()).value('psa_tasks_waiting', { kind, state: 'due' })).toBe(4);
  clock.advance(9_999);
  expect((await scrape()).value('psa_tasks_oldest_due_seconds', { kind })).toBe(104.999);
  clock.advance(1);
  expect((await scrape()).value('psa_tasks_waiting', { kind, state: 'due' })).toBeNull();
  clock.advance(60_000);
  expect(asked).toBe(3);
  silence.resolve([]);
  await scrape();
  clock.advance(5_000);
  expect((await scrape()).value('psa_tasks_oldest_due_seconds', { kind })).toBe(170);
  expect((await scrape()).value('psa_tasks_next_due_seconds', { kind })).toBe(0);
  await stop();
  clock.advance(60_000);
  expect(asked).toBe(4);
});

test('faults of fields and of answers are counted from zero on, and refusals and an instance that drains are not', async () => {
  const metrics = createMetrics(createManualClock());
  const faults = async () => {
    const { value } = readMetrics(await metrics.registry.metrics());
    return value('psa_failures_total', { outcome: 'INTERNAL_SERVER_ERROR' });
  };
  expect(await faults()).toBe(0);
  metrics.onAnswer('/v1/payouts', 409, 1);
  metrics.onAnswer('/readyz', 503, 1);
  metrics.onRootField('query', 'wallet', new NotFoundError('None'), 1);
  expect(await faults()).toBe(0);
  metrics.onAnswer('/checkout/{orderCode}', 500, 1);
  metrics.onRootField('query', 'wallet', new Error('a mistake'), 1);
  expect(await faults()).toBe(2);
  const upstream = readMetrics(await createUpstreamMetrics().registry.metrics());
  const corrected = (resource: string) => upstream.value('psa_upstream_corrections_total', { resource });
  expect(['payout', 'subaccount_payout'].map(corrected)).toEqual([0, 0]);
});

test('a tally counts into the bucket whose bound it does not exceed, and what is beyond all of them', async () => {
  const metrics = createMetrics(createManualClock());
  for (const commands of [1, 2, 3, 64, 65])
    metrics.onGroup({ commands, transactions: 0, postings: 0, events: 0, ms: 10 });
  const { value } = readMetrics(await metrics.registry.metrics());
  const upTo = (le: string) => value('psa_commit_group_commands_bucket', { le });
  expect(['1', '2', '4', '8', '64', '+Inf'].map(upTo)).toEqual([1, 2, 3, 3, 4, 5]);
  expect(value('psa_commit_group_commands_sum')).toBe(135);
  expect(value('psa_commit_seconds_sum')).toBeCloseTo(0.05);
});

test('subscribers are counted while they are there', async () => {
  const metrics = createMetrics(createManualClock());
  const now = async () =>
    readMetrics(await metrics.registry.metrics()).value('psa_graphql_subscribers', {
      transport: 'ws',
      topic: 'payout',
    });
  const leave = [metrics.onSubscriber('ws', 'payout'), metrics.onSubscriber('ws', 'payout')];
  expect(await now()).toBe(2);
  leave[0]!(false);
  expect(await now()).toBe(1);
  leave[1]!(true);
  expect(await now()).toBe(0);
  const { value } = readMetrics(await metrics.registry.metrics());
  expect(value('psa_graphql_slow_consumers_total', { transport: 'ws' })).toBe(1);
});

test('/readyz says how the upstream stands, and an open circuit does not make it unready', async () => {
  const url = await serve(createHealthRoutes({ isReady: async () => true, upstream: () => STATE }));
  const answer = await fetch(`${url}/readyz`);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({
    status: 'ready',
    upstream: { circuit: 'open', lastAnswerAt: '2026-03-02T11:59:00.000Z' },
  });
});

test('/readyz names the environments whose key the service refuses, and says since when pages come in its place', async () => {
  const pagesSince = new Date('2026-03-02T11:59:30.000Z');
  const upstream = () => ({ ...STATE, pagesSince, refusedKeys: ['live' as const] });
  const url = await serve(createHealthRoutes({ isReady: async () => true, upstream }));
  const answer = await fetch(`${url}/readyz`);
  expect(await answer.json()).toMatchObject({
    status: 'ready',
    upstream: { pagesSince: pagesSince.toISOString(), refusedKeys: ['live'] },
  });
});

test('/readyz is answered in time by a database that says nothing, and shares the write that it tries', async () => {
  let tried = 0;
  const answer = deferred<boolean>();
  const isReady = () => {
    tried += 1;
    return answer.promise;
  };
  const url = await serve(createHealthRoutes({ isReady, readyWithinMs: 10 }));
  for (let times = 0; times < 2; times += 1) expect((await fetch(`${url}/readyz`)).status).toBe(503);
  expect(tried).toBe(1);
  answer.resolve(true);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});

test('/readyz without an upstream says nothing of one', async () => {
  const url = await serve(createHealthRoutes({ isReady: async () => false }));
  const answer = await fetch(`${url}/readyz`);
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({ status: 'not ready' });
});
