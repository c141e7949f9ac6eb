// The rules for Prometheus, run by promtool: each alert is raised by a server in trouble, and not by a healthy one.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';

const FILE = fileURLToPath(new URL('../../../server/prometheus/alerts.yaml', import.meta.url));

interface Rule {
  alert: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}
const [{ rules }] = (parse(readFileSync(FILE, 'utf8')) as { groups: [{ rules: Rule[] }] }).groups;

/** Values of forty minutes by the series: in Prometheus' notation a first one, and the increase of each minute. */
type Values = Record<string, string>;

/** The series that raise an alert, those of a healthy server, and the labels of the alert. */
const CASES: Record<string, { raised: Values; quiet: Values; labels?: Record<string, string> }> = {
  PsaAway: {
    raised: { 'psa_info{instance="a"}': '1x20 stale' },
    quiet: { 'psa_info{instance="a"}': '1x20 stale', 'psa_info{instance="b"}': '1x40' },
  },
  PsaInstanceAway: {
    raised: {
      'up{instance="a",job="psa"}': '1x20 0x20',
      'psa_info{instance="a",job="psa",mode="embedded"}': '1x20 stale',
    },
    // Another program is down.
    quiet: {
      'up{instance="a",job="psa"}': '1x40',
      'up{instance="a",job="node"}': '1x20 0x20',
      'psa_info{instance="a",job="psa",mode="embedded"}': '1x40',
    },
    labels: { instance: 'a', job: 'psa' },
  },
  // The first fault of a server is an increase from 0.
  PsaInternalFaults: {
    raised: { 'psa_failures_total{outcome="INTERNAL_SERVER_ERROR"}': '0x28 1x12' },
    quiet: {
      'psa_failures_total{outcome="INTERNAL_SERVER_ERROR"}': '3x40',
      'psa_failures_total{outcome="UNAVAILABLE"}': '0+9x40',
    },
  },
  PsaUnavailable: {
    raised: { 'psa_failures_total{outcome="UNAVAILABLE"}': '0x28 1x12' },
    quiet: { 'psa_failures_total{outcome="UNAVAILABLE"}': '0x40' },
  },
  PsaNotReady: {
    raised: { 'psa_not_ready{cause="disk_full",instance="a"}': '0x10 1x30' },
    quiet: { 'psa_not_ready{cause="disk_full",instance="a"}': '0x10 1 0x29' },
    labels: { cause: 'disk_full' },
  },
  PsaRecordsBehind: {
    raised: { psa_records_behind_seconds: '0x10 60x30' },
    quiet: { psa_records_behind_seconds: '0x40' },
  },
  PsaBooksBroken: {
    raised: { 'psa_verify_findings{law="balance-is-sum"}': '0x10 1x30' },
    quiet: { 'psa_verify_findings{law="balance-is-sum"}': '0x40' },
    labels: { law: 'balance-is-sum' },
  },
  PsaBooksNotVerified: {
    raised: { psa_verify_age_seconds: '691201x40' },
    quiet: { psa_verify_age_seconds: '691200x40' },
  },
  PsaTasksLate: {
    raised: { 'psa_tasks_oldest_due_seconds{kind="payout.send"}': '61x40' },
    quiet: {
      'psa_tasks_oldest_due_seconds{kind="payout.send"}': '59x40',
      'psa_tasks_oldest_due_seconds{kind="webhook.deliver"}': '599x40',
    },
    labels: { kind: 'payout.send' },
  },
  PsaTasksFail: {
    raised: { 'psa_tasks_total{kind="payout.send",outcome="failed"}': '0x10 1 2 3 4 5x30' },
    quiet: {
      // Two kinds have failed twice each.
      'psa_tasks_total{kind="payout.send",outcome="failed"}': '0x10 2x30',
      'psa_tasks_total{kind="pix.receive",outcome="failed"}': '0x10 2x30',
      'psa_tasks_total{kind="payout.send",outcome="not_yet"}': '0+9x40',
    },
    labels: { kind: 'payout.send' },
  },
  PsaWebhooksLate: {
    raised: { 'psa_tasks_oldest_due_seconds{kind="webhook.deliver"}': '601x40' },
    quiet: { 'psa_tasks_oldest_due_seconds{kind="webhook.deliver"}': '599x40' },
  },
  PsaDatabaseSlow: {
    raised: { psa_database_waiting: '2x40' },
    quiet: { psa_database_waiting: '0x29 2x10' },
  },
  PsaUpstreamAway: {
    // Each attempt to close the circuit makes it half open.
    raised: {
      'psa_upstream_circuit{state="open"}': '0x26 1 0 1 0 1 0x10',
      'psa_upstream_circuit{state="half_open"}': '0x27 1 0 1 0 1x10',
      'psa_upstream_circuit{state="closed"}': '1x26 0x14',
    },
    // The upstream was down for a moment, and has had no request since.
    quiet: {
      'psa_upstream_circuit{state="open"}': '0x20 1 0x20',
      'psa_upstream_circuit{state="half_open"}': '0x21 1x20',
      'psa_upstream_circuit{state="closed"}': '1x20 0x21',
    },
    labels: { state: 'open' },
  },
  PsaUpstreamBudgetUsed: {
    raised: {
      'psa_upstream_budget_used{instance="a",class="query"}': '60x40',
      'psa_upstream_budget_used{instance="a",class="poll"}': '50x40',
      'psa_upstream_budget_limit{instance="a"}': '120x40',
    },
    quiet: {
      'psa_upstream_budget_used{instance="a",class="query"}': '60x40',
      'psa_upstream_budget_used{instance="b",class="query"}': '60x40',
      'psa_upstream_budget_limit{instance="a"}': '120x40',
    },
  },
  PsaUpstreamInDoubt: {
    raised: { psa_upstream_oldest_doubt_seconds: '901x40' },
    quiet: { psa_upstream_oldest_doubt_seconds: '900x40' },
  },
  PsaUpstreamCorrected: {
    raised: { 'psa_upstream_corrections_total{resource="payout"}': '0x19 1x20' },
    quiet: { 'psa_upstream_corrections_total{resource="payout"}': '7x40' },
  },
  PsaWebhooksRefused: {
    raised: {
      'psa_webhook_attempts_total{outcome="failed"}': '0+2x40',
      'psa_webhook_attempts_total{outcome="delivered"}': '0+1x40',
    },
    quiet: {
      'psa_webhook_attempts_total{outcome="failed"}': '0+1x40',
      'psa_webhook_attempts_total{outcome="delivered"}': '0+1x40',
    },
  },
  PsaWebhookEndpointsDisabled: {
    raised: { 'psa_webhook_endpoints{status="disabled_by_failures"}': '1x40' },
    quiet: { 'psa_webhook_endpoints{status="failing"}': '3x40' },
  },
  PsaUpdatesLate: {
    raised: {
      'psa_graphql_fan_out_seconds_bucket{le="1"}': '0+1x40',
      'psa_graphql_fan_out_seconds_bucket{le="2.5"}': '0+9x40',
      'psa_graphql_fan_out_seconds_bucket{le="+Inf"}': '0+9x40',
    },
    quiet: {
      'psa_graphql_fan_out_seconds_bucket{le="1"}': '0+9x40',
      'psa_graphql_fan_out_seconds_bucket{le="2.5"}': '0+9x40',
      'psa_graphql_fan_out_seconds_bucket{le="+Inf"}': '0+9x40',
    },
  },
  PsaTokensPaused: {
    raised: { psa_checkout_token_pauses_total: '0x19 1x20' },
    quiet: { psa_checkout_token_pauses_total: '5x40' },
  },
  PsaCardsHeldBack: {
    raised: { 'psa_cards_total{outcome="held_back"}': '0+120x40' },
    quiet: {
      'psa_cards_total{outcome="held_back"}': '0+30x40',
      'psa_cards_total{outcome="declined"}': '0+120x40',
    },
  },
  PsaNoPixCodes: {
    raised: {
      'psa_pix_codes_total{outcome="pending"}': '0+2x40',
      'psa_pix_codes_total{outcome="registered"}': '0+8x40',
    },
    quiet: {
      'psa_pix_codes_total{outcome="pending"}': '0+1x40',
      'psa_pix_codes_total{outcome="registered"}': '0+19x40',
    },
  },
  PsaDisputeUnanswered: {
    raised: { 'psa_tasks_next_due_seconds{kind="dispute.evidence_due"}': '86399x40' },
    quiet: {
      'psa_tasks_next_due_seconds{kind="dispute.evidence_due"}': '86400x40',
      'psa_tasks_next_due_seconds{kind="payout.send"}': '1x40',
    },
  },
  PsaRefundsFail: {
    raised: {
      'psa_refunds_total{of="payment",origin="merchant",outcome="failed"}': '0+2x40',
      'psa_refunds_total{of="payment",origin="merchant",outcome="completed"}': '0+8x40',
    },
    quiet: {
      // One refund of few has failed in a quiet hour.
      'psa_refunds_total{of="payment",origin="merchant",outcome="failed"}': '0x19 1x20',
      'psa_refunds_total{of="card_payment",origin="merchant",outcome="completed"}': '0x40',
    },
  },
  PsaReturnsRefused: {
    raised: {
      'psa_pix_returns_total{outcome="failed"}': '0x19 1x20',
      'psa_refunds_total{of="card_payment",origin="automatic",outcome="failed"}': '0x40',
    },
    quiet: {
      'psa_pix_returns_total{outcome="failed"}': '3x40',
      'psa_pix_returns_total{outcome="completed"}': '0+1x40',
      'psa_refunds_total{of="card_payment",origin="automatic",outcome="failed"}': '0x40',
      'psa_refunds_total{of="card_payment",origin="merchant",outcome="failed"}': '0+1x40',
    },
  },
  PsaOutOfStock: {
    raised: { 'psa_product_content_total{outcome="out_of_stock"}': '0x19 1x20' },
    quiet: {
      'psa_product_content_total{outcome="out_of_stock"}': '4x40',
      'psa_product_content_total{outcome="delivered"}': '0+1x40',
    },
  },
  PsaDebitsFail: {
    raised: {
      'psa_subscription_attempts_total{outcome="failed"}': '0+2x40',
      'psa_subscription_attempts_total{outcome="paid"}': '0+1x40',
    },
    // Few have failed, though nearly all.
    quiet: {
      'psa_subscription_attempts_total{outcome="failed"}': '0x19 9x20',
      'psa_subscription_attempts_total{outcome="paid"}': '0x40',
    },
  },
  PsaLtcUnmatched: {
    raised: { 'psa_ltc_outputs_total{outcome="unmatched"}': '0x19 1x20' },
    quiet: {
      'psa_ltc_outputs_total{outcome="unmatched"}': '2x40',
      'psa_ltc_outputs_total{outcome="credited"}': '0+1x40',
    },
  },
  PsaOverLoaded: {
    raised: { 'nodejs_eventloop_lag_p99_seconds{instance="a"}': '0.2x40' },
    quiet: { 'nodejs_eventloop_lag_p99_seconds{instance="a"}': '0.05x40' },
    labels: { instance: 'a' },
  },
};

const folder = mkdtempSync(join(tmpdir(), 'psa-rules-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function promtool(...args: string[]) {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { encoding: 'utf8' });
  if (error) throw error;
  return { status, output: stdout + stderr };
}

test('promtool accepts the rules', () => {
  const { status, output } = promtool('check', 'rules', FILE);
  expect([status, output]).toEqual([0, expect.stringContaining(`SUCCESS: ${rules.length} rules`)]);
});

test('each rule is raised by a server in trouble, and not by one that is well', () => {
  expect(Object.keys(CASES)).toEqual(rules.map(({ alert }) => alert));
  const toTest = (alert: string, values: Values, alerts: object[]) => ({
    interval: '1m',
    input_series: Object.entries(values).map(([series, values]) => ({ series, values })),
    alert_rule_test: [{ eval_time: '30m', alertname: alert, exp_alerts: alerts }],
  });
  const tests = rules.flatMap(({ alert, labels, annotations }) => {
    const { raised, quiet, labels: own } = CASES[alert]!;
    return [
      toTest(alert, raised, [{ exp_labels: { ...labels, ...own }, exp_annotations: annotations }]),
      toTest(alert, quiet, []),
    ];
  });
  const file = join(folder, 'rules-test.yaml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ rule_files: [FILE], evaluation_interval: '1m', tests }));
  const { status, output } = promtool('test', 'rules', file);
  expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS')]);
});
