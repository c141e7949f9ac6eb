import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Route } from '../../server/src/http/routes.ts';
import { createHealthRoutes } from '../../server/src/ops/health.ts';
import { createMetricsRoutes } from '../../server/src/ops/metrics.ts';
import { createUpstreamMetrics } from '../../server/src/ops/upstream-metrics.ts';
import type { UpstreamState } from '../../server/src/upstream/upstream.ts';

const STATE: UpstreamState = {
  circuit: 'open',
  since: new Date('2026-03-02T12:00:00.000Z'),
  lastAnswerAt: new Date('2026-03-02T11:59:00.000Z'),
  budget: {
    limit: 120,
    windowMs: 60_000,
    used: { money: 1, query: 2, lookup: 0, payer: 0, poll: 40 },
    asOf: null,
    blockedUntil: null,
  },
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
  metrics.onRead('query', 'stale');
  metrics.watch({ state: () => STATE });
  const text = await (await fetch(`${await serve(createMetricsRoutes(metrics.registry))}/metrics`)).text();
  for (const line of [
    'psa_upstream_requests_total{class="money",outcome="answered"} 1',
    'psa_upstream_requests_total{class="poll",outcome="no_slot"} 1',
    'psa_upstream_request_seconds_bucket{endpoint="POST /v1/payouts",outcome="answered",le="0.01"} 0',
    'psa_upstream_request_seconds_bucket{endpoint="POST /v1/payouts",outcome="answered",le="0.025"} 1',
    'psa_upstream_request_seconds_bucket{endpoint="POST /v1/payouts",outcome="answered",le="+Inf"} 1',
    'psa_upstream_request_seconds_sum{endpoint="POST /v1/payouts",outcome="answered"} 0.02',
    'psa_upstream_request_seconds_count{endpoint="POST /v1/payouts",outcome="answered"} 1',
    'psa_upstream_reads_total{class="query",source="stale"} 1',
    'psa_upstream_budget_used{class="poll"} 40',
    'psa_upstream_budget_limit 120',
    'psa_upstream_blocked_until_seconds 1772452800',
    'psa_upstream_circuit{state="open"} 1',
    'psa_upstream_circuit{state="closed"} 0',
    'process_resident_memory_bytes ',
  ])
    expect(text).toContain(line);
  expect(text).not.toContain('psa_upstream_request_seconds_count{endpoint="GET /v1/payouts"');
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

test('/readyz without an upstream says nothing of one', async () => {
  const url = await serve(createHealthRoutes({ isReady: async () => false }));
  const answer = await fetch(`${url}/readyz`);
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({ status: 'not ready' });
});
