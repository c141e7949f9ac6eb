import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { PoolStats } from '../db/database.ts';
import { type Route, send } from '../http/routes.ts';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { OUTAGE, OutageError, PaymentError } from '../kernel/errors.ts';
import { type Count, createCounts, createLines, createTallies, type Tally } from './tallies.ts';

/** One registry a process, for what belongs to the process: the library's collectors are never stopped. */
let ofProcess: Registry | null = null;

function processRegistry(): Registry {
  if (ofProcess) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  return ofProcess;
}

/** `/metrics` in Prometheus' text format: the process, and what is registered beside it. No tenant's data is in it. */
export function createMetricsRoutes(...beside: (Registry | null)[]): Route[] {
  const registries = [processRegistry(), ...beside.filter((registry) => registry !== null)];
  return [
    {
      methods: ['GET', 'HEAD'],
      path: /^\/metrics$/,
      async handle({ response }) {
        const texts = await Promise.all(registries.map((each) => each.metrics()));
        send(response, 200, texts.join('\n'), {
          'content-type': Registry.PROMETHEUS_CONTENT_TYPE,
          'cache-control': 'no-store',
        });
      },
    },
  ];
}

// ── What every server tells ─────────────────────────────────────────────────────────────────────

export type OperationKind = 'query' | 'mutation' | 'subscription';
export type Transport = 'ws' | 'sse';

/** Tasks of one kind that wait, as the database has them. */
export interface Backlog {
  readonly kind: string;
  /** Due, and nobody is at it. */
  readonly due: number;
  readonly underWay: number;
  readonly later: number;
  /** Of those that are due; null where none is. */
  readonly oldestDueAt: Date | null;
}

/** What has become of a group of commands that went through one transaction. */
export interface CommittedGroup {
  readonly commands: number;
  readonly transactions: number;
  readonly postings: number;
  readonly events: number;
  readonly ms: number;
}

/**
 * What the rooms of the house tell as it comes by; they know nothing of who listens. No label is a text of a client's:
 * each is a name from our own code, or the status of an answer.
 */
export interface Metrics {
  readonly registry: Registry;
  /** Of an answer by one of our routes; null where there is none, and for the status where the client has left. */
  onAnswer(route: string | null, status: number | null, ms: number | null): void;
  /** A root field has its result; `error` is what it was refused with, and null where it was not. */
  onRootField(kind: OperationKind, field: string, error: unknown, ms: number): void;
  /** Somebody follows a topic, until what is returned is called: whether the queue was full. */
  onSubscriber(transport: Transport, topic: string): (wasSlow: boolean) => void;
  /** A change that was decided so long ago has been handed to so many here who follow it. */
  onDelivered(ms: number, listeners: number): void;
  onGroup(group: CommittedGroup): void;
  onStatement(kind: string, ms: number): void;
  /** For a connection of the pool; PGlite has one. */
  onConnectionWait(ms: number): void;
  onTask(kind: string, outcome: 'done' | 'not_yet' | 'failed', ms: number): void;
  onWebhook(delivered: boolean, ms: number): void;
  /** A card that was tried, by what became of it; or that was not, for its payer has to wait. */
  onCard(outcome: 'approved' | 'declined' | 'held_back'): void;
  /** A checkout token was paused for its declined cards. */
  onTokenPaused(): void;
  /** From now on a scrape shows these, too. Returns what stops looking after them. */
  watch(watched: {
    info: { mode: string; engine: string };
    connections: () => PoolStats;
    backlog: () => Promise<readonly Backlog[]>;
  }): () => Promise<void>;
}

/** In seconds: from what is in memory to what an operator is called for. */
const ANSWER_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
/** Of one statement, one commit, one delivery to everybody. */
const STEP_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5];
/** How often the database is asked for figures: a scrape never waits for it. */
const BACKLOG_MS = 5_000;
/** The age at which its last answer is no longer shown. */
const BACKLOG_KEPT_MS = 15_000;

export function createMetrics(clock: Clock): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const answers = createCounts({
    name: 'psa_http_requests_total',
    help: 'Requests by route and status; aborted: the client left before its answer was complete',
    labelNames: ['route', 'status'],
    registers,
  });
  const answerSeconds = createTallies({
    name: 'psa_http_request_seconds',
    help: 'From the request to the last byte of its answer, event streams excepted',
    labelNames: ['route'],
    buckets: ANSWER_SECONDS,
    registers,
  });
  const fields = createCounts({
    name: 'psa_graphql_root_fields_total',
    help: 'Root fields of GraphQL operations by what became of them: ok, or the code of the refusal',
    labelNames: ['kind', 'field', 'outcome'],
    registers,
  });
  const fieldSeconds = createTallies({
    name: 'psa_graphql_root_field_seconds',
    help: 'From the beginning of a root field to its result, or to its subscription',
    labelNames: ['kind', 'field'],
    buckets: ANSWER_SECONDS,
    registers,
  });
  new Gauge({
    name: 'psa_graphql_subscribers',
    help: 'Subscriptions that are open here now',
    labelNames: ['transport', 'topic'],
    registers,
    collect() {
      for (const { labels, line } of openSubscriptions.all()) this.set(labels, line.n);
    },
  });
  const fanOutSeconds = createTallies({
    name: 'psa_graphql_fan_out_seconds',
    help: 'From a change, right before its commit, to its having been handed to every subscriber here',
    labelNames: [],
    buckets: STEP_SECONDS,
    registers,
  })();
  const deliveries = createCounts({
    name: 'psa_graphql_deliveries_total',
    help: 'Changes that were handed to a subscriber here, each as often as there were subscribers',
    labelNames: [],
    registers,
  })();
  const slowConsumers = createCounts({
    name: 'psa_graphql_slow_consumers_total',
    help: 'Subscriptions that were closed because their queue was full; the client comes back with after',
    labelNames: ['transport'],
    registers,
  });
  const groups = createTallies({
    name: 'psa_commit_group_commands',
    help: 'Commands that shared one transaction',
    labelNames: [],
    buckets: [1, 2, 4, 8, 16, 32, 64],
    registers,
  })();
  const groupSeconds = createTallies({
    name: 'psa_commit_seconds',
    help: 'A transaction of the committer, from its beginning to its COMMIT',
    labelNames: [],
    buckets: STEP_SECONDS,
    registers,
  })();
  const transactions = createCounts({
    name: 'psa_ledger_transactions_total',
    help: 'Ledger transactions that were committed here',
    labelNames: [],
    registers,
  })();
  const postings = createCounts({
    name: 'psa_ledger_postings_total',
    help: 'Lines of those transactions',
    labelNames: [],
    registers,
  })();
  const events = createCounts({
    name: 'psa_events_total',
    help: 'Events that were written to the log here',
    labelNames: [],
    registers,
  })();
  const statementSeconds = createTallies({
    name: 'psa_database_statement_seconds',
    help: 'Statements by their first word, from sending to their last row',
    labelNames: ['kind'],
    buckets: STEP_SECONDS,
    registers,
  });
  const waitSeconds = createTallies({
    name: 'psa_database_wait_seconds',
    help: 'For a connection of the pool; PGlite has one, so this is its queue',
    labelNames: [],
    buckets: STEP_SECONDS,
    registers,
  })();
  const tasks = createCounts({
    name: 'psa_tasks_total',
    help: 'Due tasks by what became of them; not_yet and failed are done again',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const taskSeconds = createTallies({
    name: 'psa_task_seconds',
    help: 'Doing what is due',
    labelNames: ['kind'],
    buckets: ANSWER_SECONDS,
    registers,
  });
  const webhooks = createCounts({
    name: 'psa_webhook_attempts_total',
    help: 'Attempts to deliver a webhook to a merchant',
    labelNames: ['outcome'],
    registers,
  });
  const webhookSeconds = createTallies({
    name: 'psa_webhook_attempt_seconds',
    help: 'From sending a webhook to the end of its answer, or to its failure',
    labelNames: [],
    buckets: ANSWER_SECONDS,
    registers,
  })();

  const cards = createCounts({
    name: 'psa_cards_total',
    help: 'Cards that payers tried here: approved, declined; held_back: not tried, for the payer has to wait',
    labelNames: ['outcome'],
    registers,
  });
  const tokenPauses = createCounts({
    name: 'psa_checkout_token_pauses_total',
    help: 'Checkout tokens that were paused here for their declined cards',
    labelNames: [],
    registers,
  })();

  /** Thousands are open at once: what each keeps is the one function of its line. */
  const openSubscriptions = createLines(['transport', 'topic'] as const, (transport) => {
    const line = {
      n: 0,
      leave(wasSlow: boolean) {
        line.n -= 1;
        if (wasSlow) slowConsumers(transport).n += 1;
      },
    };
    return line;
  });
  const linesOf = createFieldLines(fields, fieldSeconds);
  const routes = new Map<string, { seconds: Tally; byStatus: Map<number | null, Count> }>();
  function lineOfRoute(route: string) {
    let line = routes.get(route);
    if (!line) {
      line = { seconds: answerSeconds(route), byStatus: new Map() };
      routes.set(route, line);
    }
    return line;
  }

  return {
    registry,
    onAnswer(route, status, ms) {
      const line = lineOfRoute(route ?? 'none');
      let count = line.byStatus.get(status);
      if (!count) {
        count = answers(route ?? 'none', status === null ? 'aborted' : String(status));
        line.byStatus.set(status, count);
      }
      count.n += 1;
      if (ms !== null) line.seconds.add(ms / 1_000);
    },
    onRootField(kind, field, error, ms) {
      const line = linesOf[kind](field);
      line.seconds.add(ms / 1_000);
      if (error === null) line.ok.n += 1;
      else fields(kind, field, outcomeOf(error)).n += 1;
    },
    onSubscriber(transport, topic) {
      const line = openSubscriptions(transport, topic);
      line.n += 1;
      return line.leave;
    },
    onDelivered(ms, listeners) {
      fanOutSeconds.add(ms / 1_000);
      deliveries.n += listeners;
    },
    onGroup(group) {
      groups.add(group.commands);
      groupSeconds.add(group.ms / 1_000);
      transactions.n += group.transactions;
      postings.n += group.postings;
      events.n += group.events;
    },
    onStatement: (kind, ms) => statementSeconds(kind).add(ms / 1_000),
    onConnectionWait: (ms) => waitSeconds.add(ms / 1_000),
    onTask(kind, outcome, ms) {
      tasks(kind, outcome).n += 1;
      taskSeconds(kind).add(ms / 1_000);
    },
    onWebhook(delivered, ms) {
      webhooks(delivered ? 'delivered' : 'failed').n += 1;
      webhookSeconds.add(ms / 1_000);
    },
    onCard(outcome) {
      cards(outcome).n += 1;
    },
    onTokenPaused() {
      tokenPauses.n += 1;
    },
    watch({ info, connections, backlog }) {
      new Gauge({
        name: 'psa_info',
        help: 'What runs here; its value is always 1',
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
        help: 'Who waits for a connection now',
        registers,
        collect() {
          this.set(connections().waiting);
        },
      });
      return watchBacklog({ registers, clock, backlog });
    },
  };
}

export const FAULT = 'INTERNAL_SERVER_ERROR';

/** `ok`, or the code of a refusal or an outage, a closed set; anything else is a fault of ours. */
export function outcomeOf(error: unknown): string {
  if (error === null) return 'ok';
  if (error instanceof OutageError) return OUTAGE;
  return error instanceof PaymentError ? error.code : FAULT;
}

/** The lines of a field that is answered, found by its name alone: most fields are, and each request has one. */
function createFieldLines(
  fields: (...labels: string[]) => Count,
  fieldSeconds: (...labels: string[]) => Tally,
) {
  const ofKind = (kind: OperationKind) => {
    const lines = new Map<string, { ok: Count; seconds: Tally }>();
    return (field: string) => {
      let line = lines.get(field);
      if (!line) {
        line = { ok: fields(kind, field, 'ok'), seconds: fieldSeconds(kind, field) };
        lines.set(field, line);
      }
      return line;
    };
  };
  return { query: ofKind('query'), mutation: ofKind('mutation'), subscription: ofKind('subscription') };
}

/** Of all instances together, for they share one table. Where the database does not answer, the lines are missing. */
function watchBacklog({
  registers,
  clock,
  backlog,
}: {
  registers: Registry[];
  clock: Clock;
  backlog: () => Promise<readonly Backlog[]>;
}): () => Promise<void> {
  let known: { at: number; rows: readonly Backlog[] } | null = null;
  let looking: Promise<void> | null = null;
  let cancel: () => void;
  function look(): void {
    cancel = clock.schedule(plusMs(clock.now(), BACKLOG_MS), look);
    const at = clock.ms();
    // A database that is slow is not asked once more.
    looking ??= backlog()
      .then(
        (rows) => {
          known = { at, rows };
        },
        () => undefined,
      )
      .finally(() => {
        looking = null;
      });
  }
  look();
  function read(): readonly Backlog[] {
    if (!known) return [];
    const ageMs = clock.ms() - known.at;
    // A clock that was set back says nothing of the age.
    return ageMs >= 0 && ageMs < BACKLOG_KEPT_MS ? known.rows : [];
  }
  new Gauge({
    name: 'psa_tasks_waiting',
    help: 'Tasks of all instances: due, under_way, or for later',
    labelNames: ['kind', 'state'],
    registers,
    collect() {
      this.reset();
      for (const { kind, due, underWay, later } of read()) {
        this.set({ kind, state: 'due' }, due);
        this.set({ kind, state: 'under_way' }, underWay);
        this.set({ kind, state: 'later' }, later);
      }
    },
  });
  new Gauge({
    name: 'psa_tasks_oldest_due_seconds',
    help: 'For how long the oldest task that is due has been so; 0 where none is',
    labelNames: ['kind'],
    registers,
    collect() {
      this.reset();
      for (const { kind, oldestDueAt } of read())
        this.set({ kind }, oldestDueAt ? Math.max(0, clock.ms() - oldestDueAt.getTime()) / 1_000 : 0);
    },
  });
  return async () => {
    cancel();
    await looking;
  };
}
