import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../../kernel/clock.ts';
import { describeOutage, OutageError, PaymentError } from '../../kernel/errors.ts';
import type { Behind } from '../../kernel/records.ts';
import type { PoolStats } from '../../state/db/database.ts';
import type { VerifiedLaw } from '../verify/model.ts';
import { type Backlog, watchBacklog } from './backlog.ts';
import { type EndpointCount, watchEndpoints } from './endpoints-metric.ts';
import { UNREADY_CAUSES, type UnreadyCause } from './readiness.ts';
import { watchRecords } from './records-metric.ts';
import { watchVerified } from './verified-metric.ts';

export type OperationKind = 'query' | 'mutation' | 'subscription';
export type Transport = 'ws' | 'sse';

/** A group of commands that shared one transaction, after its commit. */
export interface CommittedGroup {
  readonly commands: number;
  readonly transactions: number;
  readonly postings: number;
  readonly events: number;
  readonly ms: number;
}

/**
 * Callbacks for the parts of the server, which do not depend on Prometheus. No label is a client's text: each
 * is a name from our own code, or the status of an answer.
 */
export interface Metrics {
  readonly registry: Registry;
  /** Counts an answer. `route` is null if no route matched, `status` if the client left before its end. */
  onAnswer(route: string | null, status: number | null, ms: number | null): void;
  /** Counts a root field when it has its result; `error` is its refusal, or null. */
  onRootField(kind: OperationKind, field: string, error: unknown, ms: number): void;
  /** Counts an open subscription until the returned function is called; `wasSlow`: its queue was full. */
  onSubscriber(transport: Transport, topic: string): (wasSlow: boolean) => void;
  /** Counts a change that was handed to its subscribers here, `ms` after it was decided. */
  onDelivered(ms: number, listeners: number): void;
  onGroup(group: CommittedGroup): void;
  onStatement(kind: string, ms: number): void;
  /** Records a wait for a connection of the pool; PGlite has one connection. */
  onConnectionWait(ms: number): void;
  onTask(kind: string, outcome: 'done' | 'not_yet' | 'failed', ms: number): void;
  onWebhook(delivered: boolean, ms: number): void;
  /** Counts a card that a payer tried; `held_back`: it was not charged, for the payer has to wait. */
  onCard(outcome: 'approved' | 'declined' | 'held_back'): void;
  /** Counts a checkout token that was paused for its declined cards. */
  onTokenPaused(): void;
  /** Counts the answer of the bank to a request for a PIX code. */
  onPixCode(outcome: 'registered' | 'pending' | 'refused'): void;
  /** Counts an incoming PIX: accepted, or the cause for which it is sent back. */
  onPixCredit(outcome: string): void;
  /** Counts the answer of the bank to the return of a PIX: a refused return is retried after a day. */
  onPixReturn(outcome: 'completed' | 'failed'): void;
  /**
   * Counts a refund that has ended. `of`: the type of the payment; `origin`: the merchant's request, or
   * automatic.
   */
  onRefund(refund: { of: string; origin: 'merchant' | 'automatic'; outcome: 'completed' | 'failed' }): void;
  /** Counts a dispute that was opened or decided, by its new status. */
  onDispute(change: string): void;
  /** Counts the answer of the network to a request for an LTC address. */
  onLtcAddress(outcome: 'ready' | 'pending'): void;
  /**
   * Counts an output of LTC: a confirmed one is credited or unmatched, and a reorganization may take one
   * back.
   */
  onLtcOutput(outcome: 'credited' | 'unmatched' | 'reorganised'): void;
  /** Counts content of a product: `delivered`, or `out_of_stock` if a payment waits for a code. */
  onContent(outcome: 'delivered' | 'out_of_stock'): void;
  /** Counts an attempt to debit a cycle of a subscription, as the payer's bank has reported it. */
  onSubscriptionAttempt(outcome: 'paid' | 'failed'): void;
  /** Counts rows that were removed by their age, by what PSA_KEEP calls them. */
  onRemoved(kept: string, rows: number): void;
  /** Counts an outage in the log of faults, even if no request was affected. */
  onOutage(): void;
  /** Adds gauges of the process, the pool, the waiting tasks and the verified books. The returned function stops them. */
  watch(watched: {
    info: { mode: string; engine: string };
    connections: () => PoolStats;
    unready: () => UnreadyCause | null;
    behind: () => Behind | null;
    backlog: () => Promise<readonly Backlog[]>;
    verified: () => Promise<readonly VerifiedLaw[]>;
    endpoints: () => Promise<readonly EndpointCount[]>;
  }): () => Promise<void>;
}

/** Upper bounds in seconds, from an answer from memory to one that alerts an operator. */
const ANSWER_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
/** Upper bounds in seconds of one statement, one commit, one delivery to all subscribers. */
const STEP_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5];

export function createMetrics(clock: Clock): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const answers = new Counter({
    name: 'psa_http_requests_total',
    help: 'Requests by route and status; aborted: the client left before its answer was complete',
    labelNames: ['route', 'status'],
    registers,
  });
  const failures = new Counter({
    name: 'psa_failures_total',
    help: 'Internal faults of root fields and of answers, and what has met an outage of the database',
    labelNames: ['outcome'],
    registers,
  });
  const answerSeconds = new Histogram({
    name: 'psa_http_request_seconds',
    help: 'Duration of a request until the last byte of its response, event streams excepted',
    labelNames: ['route'],
    buckets: ANSWER_SECONDS,
    registers,
  });
  const fields = new Counter({
    name: 'psa_graphql_root_fields_total',
    help: 'Root fields of GraphQL operations by outcome: ok, or the code of the refusal',
    labelNames: ['kind', 'field', 'outcome'],
    registers,
  });
  const fieldSeconds = new Histogram({
    name: 'psa_graphql_root_field_seconds',
    help: 'Duration of a root field until its result, or until its subscription',
    labelNames: ['kind', 'field'],
    buckets: ANSWER_SECONDS,
    registers,
  });
  const subscribers = new Gauge({
    name: 'psa_graphql_subscribers',
    help: 'Subscriptions that are open here now',
    labelNames: ['transport', 'topic'],
    registers,
  });
  const fanOutSeconds = new Histogram({
    name: 'psa_graphql_fan_out_seconds',
    help: 'Time from a change, right before its commit, until all subscribers of this instance have received it',
    buckets: STEP_SECONDS,
    registers,
  });
  const deliveries = new Counter({
    name: 'psa_graphql_deliveries_total',
    help: 'Changes that were handed to a subscriber here, each as often as there were subscribers',
    registers,
  });
  const slowConsumers = new Counter({
    name: 'psa_graphql_slow_consumers_total',
    help: 'Subscriptions that were closed because their queue was full; the client resumes with after',
    labelNames: ['transport'],
    registers,
  });
  const groups = new Histogram({
    name: 'psa_commit_group_commands',
    help: 'Commands that shared one transaction',
    buckets: [1, 2, 4, 8, 16, 32, 64],
    registers,
  });
  const groupSeconds = new Histogram({
    name: 'psa_commit_seconds',
    help: 'Duration of a transaction of the committer, from its beginning to its COMMIT',
    buckets: STEP_SECONDS,
    registers,
  });
  const transactions = new Counter({
    name: 'psa_ledger_transactions_total',
    help: 'Ledger transactions that were committed here',
    registers,
  });
  const postings = new Counter({
    name: 'psa_ledger_postings_total',
    help: 'Lines of those transactions',
    registers,
  });
  const events = new Counter({
    name: 'psa_events_total',
    help: 'Events that were written to the log here',
    registers,
  });
  const statementSeconds = new Histogram({
    name: 'psa_database_statement_seconds',
    help: 'Duration of a statement until its last row, by its first word',
    labelNames: ['kind'],
    buckets: STEP_SECONDS,
    registers,
  });
  const waitSeconds = new Histogram({
    name: 'psa_database_wait_seconds',
    help: 'Time that a statement waits for a connection of the pool; PGlite has one, so this is its queue',
    buckets: STEP_SECONDS,
    registers,
  });
  const tasks = new Counter({
    name: 'psa_tasks_total',
    help: 'Due tasks by outcome; not_yet and failed are retried',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const taskSeconds = new Histogram({
    name: 'psa_task_seconds',
    help: 'Duration of a due task',
    labelNames: ['kind'],
    buckets: ANSWER_SECONDS,
    registers,
  });
  const webhooks = new Counter({
    name: 'psa_webhook_attempts_total',
    help: 'Attempts to deliver a webhook to a merchant',
    labelNames: ['outcome'],
    registers,
  });
  const webhookSeconds = new Histogram({
    name: 'psa_webhook_attempt_seconds',
    help: 'Duration of an attempt to deliver a webhook, until the end of its response or its failure',
    buckets: ANSWER_SECONDS,
    registers,
  });

  const cards = new Counter({
    name: 'psa_cards_total',
    help: 'Cards that payers tried here: approved, declined; held_back: not tried, for the payer has to wait',
    labelNames: ['outcome'],
    registers,
  });
  const tokenPauses = new Counter({
    name: 'psa_checkout_token_pauses_total',
    help: 'Checkout tokens that were paused here for their declined cards',
    registers,
  });

  const pixCodes = new Counter({
    name: 'psa_pix_codes_total',
    help: 'Answers of the bank to requests for PIX codes: registered, refused; pending: retried later',
    labelNames: ['outcome'],
    registers,
  });
  const pixCredits = new Counter({
    name: 'psa_pix_credits_total',
    help: 'Incoming PIX: accepted, or the cause for which it is sent back',
    labelNames: ['outcome'],
    registers,
  });
  const pixReturns = new Counter({
    name: 'psa_pix_returns_total',
    help: 'Answers of the bank to PIX that are sent back: completed, failed; what fails is tried again after a day',
    labelNames: ['outcome'],
    registers,
  });
  const refunds = new Counter({
    name: 'psa_refunds_total',
    help: 'Refunds that have ended, by what was paid: of a merchant’s request, or automatic; completed or failed',
    labelNames: ['of', 'origin', 'outcome'],
    registers,
  });
  const disputes = new Counter({
    name: 'psa_disputes_total',
    help: 'Disputes that were opened or decided, by the new status',
    labelNames: ['change'],
    registers,
  });

  const ltcAddresses = new Counter({
    name: 'psa_ltc_addresses_total',
    help: 'Answers of the network to requests for LTC addresses: ready; pending: retried later',
    labelNames: ['outcome'],
    registers,
  });
  const ltcOutputs = new Counter({
    name: 'psa_ltc_outputs_total',
    help: 'Outputs of LTC that were confirmed: credited, or unmatched; reorganised: taken back before they paid',
    labelNames: ['outcome'],
    registers,
  });

  const contents = new Counter({
    name: 'psa_product_content_total',
    help: 'Content that the payers of products were given: delivered; out_of_stock: it waits for a code',
    labelNames: ['outcome'],
    registers,
  });

  const attempts = new Counter({
    name: 'psa_subscription_attempts_total',
    help: 'Attempts to debit a cycle of a subscription, as the payer’s bank has reported them: paid, failed',
    labelNames: ['outcome'],
    registers,
  });

  const removed = new Counter({
    name: 'psa_removed_rows_total',
    help: 'Rows that were removed here by their age: events, deliveries, tokens; bodies: what an attempt has sent and got back',
    labelNames: ['kept'],
    registers,
  });

  // Prometheus sees no increase in a series that begins with 1, so series for alerts begin with 0.
  for (const paid of ['card_payment', 'payment', 'charge'])
    for (const origin of ['merchant', 'automatic'])
      for (const outcome of ['completed', 'failed']) refunds.inc({ of: paid, origin, outcome }, 0);
  for (const outcome of ['paid', 'failed']) attempts.inc({ outcome }, 0);
  pixReturns.inc({ outcome: 'failed' }, 0);
  ltcOutputs.inc({ outcome: 'unmatched' }, 0);
  contents.inc({ outcome: 'out_of_stock' }, 0);
  for (const outcome of [FAULT, OUTAGE]) failures.inc({ outcome }, 0);

  /** The end of a subscription, one function for each transport and topic: thousands of open subscriptions hold it. */
  const onLeaves = new Map<string, (wasSlow: boolean) => void>();
  function onLeaveOf(transport: Transport, topic: string): (wasSlow: boolean) => void {
    const key = `${transport} ${topic}`;
    let onLeave = onLeaves.get(key);
    if (!onLeave) {
      onLeave = (wasSlow) => {
        subscribers.dec({ transport, topic });
        if (wasSlow) slowConsumers.inc({ transport });
      };
      onLeaves.set(key, onLeave);
    }
    return onLeave;
  }

  return {
    registry,
    onAnswer(route, status, ms) {
      answers.inc({ route: route ?? 'none', status: status ?? 'aborted' });
      if (status === 500) failures.inc({ outcome: FAULT });
      if (ms !== null) answerSeconds.observe({ route: route ?? 'none' }, ms / 1_000);
    },
    onRootField(kind, field, error, ms) {
      const outcome = outcomeOf(error);
      fields.inc({ kind, field, outcome });
      if (outcome === FAULT) failures.inc({ outcome });
      fieldSeconds.observe({ kind, field }, ms / 1_000);
    },
    onSubscriber(transport, topic) {
      subscribers.inc({ transport, topic });
      return onLeaveOf(transport, topic);
    },
    onDelivered(ms, listeners) {
      fanOutSeconds.observe(ms / 1_000);
      deliveries.inc(listeners);
    },
    onGroup(group) {
      groups.observe(group.commands);
      groupSeconds.observe(group.ms / 1_000);
      transactions.inc(group.transactions);
      postings.inc(group.postings);
      events.inc(group.events);
    },
    onStatement: (kind, ms) => statementSeconds.observe({ kind }, ms / 1_000),
    onConnectionWait: (ms) => waitSeconds.observe(ms / 1_000),
    onTask(kind, outcome, ms) {
      tasks.inc({ kind, outcome });
      taskSeconds.observe({ kind }, ms / 1_000);
    },
    onWebhook(delivered, ms) {
      webhooks.inc({ outcome: delivered ? 'delivered' : 'failed' });
      webhookSeconds.observe(ms / 1_000);
    },
    onCard: (outcome) => cards.inc({ outcome }),
    onPixCode: (outcome) => pixCodes.inc({ outcome }),
    onPixCredit: (outcome) => pixCredits.inc({ outcome }),
    onPixReturn: (outcome) => pixReturns.inc({ outcome }),
    onRefund: (refund) => refunds.inc(refund),
    onDispute: (change) => disputes.inc({ change }),
    onLtcAddress: (outcome) => ltcAddresses.inc({ outcome }),
    onLtcOutput: (outcome) => ltcOutputs.inc({ outcome }),
    onSubscriptionAttempt: (outcome) => attempts.inc({ outcome }),
    onTokenPaused: () => tokenPauses.inc(),
    onRemoved: (kept, rows) => removed.inc({ kept }, rows),
    onOutage: () => failures.inc({ outcome: OUTAGE }),
    onContent: (outcome) => contents.inc({ outcome }),
    watch({ info, connections, unready, behind, backlog, verified, endpoints }) {
      new Gauge({
        name: 'psa_info',
        help: 'Mode and database engine of this server; the value is always 1',
        labelNames: ['mode', 'engine'],
        registers,
      }).set(info, 1);
      new Gauge({
        name: 'psa_database_connections',
        help: 'Connections of the pool: in use, or idle',
        labelNames: ['state'],
        registers,
        collect() {
          const { inUse, idle } = connections();
          this.set({ state: 'in_use' }, inUse);
          this.set({ state: 'idle' }, idle);
        },
      });
      new Gauge({
        name: 'psa_database_waiting',
        help: 'Callers that wait for a connection of the pool now',
        registers,
        collect() {
          this.set(connections().waiting);
        },
      });
      new Gauge({
        name: 'psa_not_ready',
        help: 'Whether the database of this server takes no writes, by the cause: 1, or 0',
        labelNames: ['cause'],
        registers,
        collect() {
          for (const cause of UNREADY_CAUSES) this.set({ cause }, cause === unready() ? 1 : 0);
        },
      });
      watchRecords(registers, behind, clock);
      const stops = [
        watchVerified({ registers, clock, verified }),
        watchBacklog({ registers, clock, backlog }),
        watchEndpoints({ registers, clock, endpoints }),
      ];
      return async () => void (await Promise.all(stops.map((stop) => stop())));
    },
  };
}

export const FAULT = 'INTERNAL_SERVER_ERROR';
/** The outcome of all outages of the database in `psa_failures_total`, whether the request may have been done or not. */
const OUTAGE = 'UNAVAILABLE';

/** The outcome label of an error: `ok`, or the code of a refusal or an outage, a closed set; else an internal fault. */
export function outcomeOf(error: unknown): string {
  if (error === null) return 'ok';
  if (error instanceof OutageError) return describeOutage(error).code;
  return error instanceof PaymentError ? error.code : FAULT;
}
