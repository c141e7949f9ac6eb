import { readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { RequestContext } from '../../../server/src/api/http/routes.ts';
import { createMetrics } from '../../../server/src/programs/ops/metrics.ts';
import { createMetricsRoutes } from '../../../server/src/programs/ops/metrics-route.ts';
import { createUpstreamMetrics } from '../../../server/src/programs/ops/upstream-metrics.ts';
import { byClass } from '../../support/by-class.ts';
import { createManualClock } from '../../support/clock.ts';
import { readMetrics, type Scraped } from '../../support/scrape.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** All metrics of a server, with a line of each. */
async function everything(): Promise<Scraped> {
  const metrics = createMetrics(createManualClock());
  metrics.onAnswer('/graphql', 200, 1);
  metrics.onRootField('query', 'wallet', null, 1);
  metrics.onSubscriber('ws', 'payout')(true);
  metrics.onDelivered(1, 1);
  metrics.onGroup({ commands: 1, transactions: 1, postings: 2, events: 1, ms: 1 });
  metrics.onStatement('select', 1);
  metrics.onConnectionWait(1);
  metrics.onTask('webhook.deliver', 'done', 1);
  metrics.onWebhook(true, 1);
  metrics.onCard('declined');
  metrics.onTokenPaused();
  metrics.onOutage();
  metrics.onRemoved('events', 1);
  metrics.onPixCode('registered');
  metrics.onPixCredit('accepted');
  metrics.onPixReturn('failed');
  metrics.onRefund({ of: 'payment', origin: 'merchant', outcome: 'failed' });
  metrics.onDispute('open');
  metrics.onLtcAddress('ready');
  metrics.onLtcOutput('credited');
  metrics.onContent('delivered');
  metrics.onSubscriptionAttempt('paid');
  metrics.watch({
    info: { mode: 'embedded', engine: 'pglite' },
    connections: () => ({ inUse: 1, idle: 0, waiting: 0 }),
    unready: () => null,
    behind: () => null,
    endpoints: async () => [{ status: 'enabled', count: 1 }],
    backlog: async () => [
      { kind: 'a', due: 1, underWay: 0, later: 0, oldestDueAt: null, nextDueAt: new Date(0) },
    ],
    verified: async () => [{ law: 'a', findings: 0, verifiedAt: new Date(0) }],
  });
  const upstream = createUpstreamMetrics();
  upstream.onOutcome('money', 'answered', 0.1, 'GET /v1/wallet');
  upstream.onTurn('query', 0.1);
  upstream.onRead('query', 'memory');
  upstream.onCorrection('payout');
  upstream.watchDoubts(
    async () => [{ operation: 'requestPayout', movesMoney: true, requestedAt: new Date(0) }],
    () => new Date(0),
  );
  upstream.watch({
    state: () => ({
      ...{ circuit: 'closed', since: new Date(0), lastAnswerAt: null, pagesSince: null, refusedKeys: [] },
      circuits: byClass(() => 'closed' as const),
    }),
    budget: () => ({
      limit: 120,
      windowMs: 60_000,
      used: byClass(() => 0),
      asOf: null,
      blockedUntil: null,
    }),
  });
  // A scrape starts the count of intents in doubt, and the next scrape shows it.
  await upstream.registry.metrics();
  await turn();
  const [route] = createMetricsRoutes(metrics.registry, upstream.registry);
  const said = new Promise<string>((resolve) => {
    const response = { req: { headers: {} }, writeHead: () => undefined, end: resolve };
    void route!.handle({ response } as unknown as RequestContext);
  });
  return readMetrics(await said);
}

const NAMES = /\b(?:psa|nodejs|process)_[a-z0-9_]+/g;

/** The name of a metric, by that of one of its lines. */
const baseOf = (name: string) => name.replace(/_(bucket|sum|count)$/, '');

/** Prometheus' own labels, which a scrape adds. */
const ADDED = ['instance', 'job'];

const [, documented = ''] = /\n## Observe\n([\s\S]*?)\n## /.exec(read('server/docs/operate.md')) ?? [];

/** Fails if the server has no metric of the query, or if none of its metrics has a label of the query. */
function check(query: string, { names, labelsOf }: Scraped): void {
  const asked = query.match(NAMES) ?? [];
  expect(asked, query).not.toEqual([]);
  for (const name of asked) expect([...names], query).toContain(name);
  const known = new Set([...ADDED, ...asked.flatMap((name) => [...labelsOf(name)])]);
  const matched = [...query.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label]) => label!);
  const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels]) => labels!.split(/,\s*/));
  for (const label of [...matched, ...grouped]) expect([...known], query).toContain(label);
}

test('every query of the dashboard is about metrics and labels that a server has', async () => {
  const scraped = await everything();
  const dashboard = JSON.parse(read('server/grafana/psa.json'));
  const queries: string[] = dashboard.panels.flatMap((panel: { targets?: { expr: string }[] }) =>
    (panel.targets ?? []).map(({ expr }) => expr),
  );
  expect(queries.length).toBeGreaterThan(20);
  for (const query of queries) check(query, scraped);
  const [instance] = dashboard.templating.list.filter(({ name }: { name: string }) => name === 'instance');
  expect([...scraped.names]).toContain(/label_values\((\w+),/.exec(instance.definition)![1]);
});

test('every metric of the server is on the dashboard', async () => {
  const { names } = await everything();
  const shown = new Set(read('server/grafana/psa.json').match(NAMES)?.map(baseOf));
  const ours = [...names].filter((name) => name.startsWith('psa_')).map(baseOf);
  expect(ours.filter((name) => !shown.has(name))).toEqual([]);
});

test('every alert of operate.md is about metrics and labels that a server has', async () => {
  const scraped = await everything();
  const alerts = [...documented.matchAll(/^\| `([^`]* (?:[<>]|==) [^`]*)`/gm)].map(([, alert]) => alert!);
  expect(alerts.length).toBeGreaterThan(5);
  for (const alert of alerts) check(alert, scraped);
});

test('the rules for Prometheus are the alerts of operate.md', () => {
  const { groups } = parse(read('server/prometheus/alerts.yaml')) as {
    groups: { rules: { alert: string; expr: string; for?: string; annotations: { summary: string } }[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  const rows = documented.matchAll(/^\| `([^`]* (?:[<>]|==) [^`]*)`( for a minute)? +\| (.*?) *\|$/gm);
  expect(rules.map((rule) => [rule.expr, rule.for ?? null, rule.annotations.summary])).toEqual(
    [...rows].map(([, expr, minute, means]) => [expr, minute ? '1m' : null, means]),
  );
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});

test('operate.md lists every metric of the server and no other', async () => {
  const { names } = await everything();
  const said = new Set(documented.match(/\bpsa_[a-z_]+/g));
  const ours = [...names].filter((name) => name.startsWith('psa_'));
  const bases = new Set(ours.map(baseOf));
  expect([...said].filter((name) => !bases.has(name) && !names.has(name))).toEqual([]);
  expect([...bases].filter((name) => !said.has(name))).toEqual([]);
});
