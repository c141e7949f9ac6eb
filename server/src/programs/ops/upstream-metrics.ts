import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { MIRRORED_RESOURCES } from '../../kernel/upstream-family.ts';
import { UPSTREAM_PRIORITIES, type Upstream, type UpstreamPriority } from '../../upstream/upstream.ts';

/** The resources whose status a newer answer of the service corrects. */
const CORRECTED = MIRRORED_RESOURCES.filter((resource) => resource !== 'wallet');

/** Callbacks of the upstream client and its reads. */
export interface UpstreamMetrics {
  readonly registry: Registry;
  /** Counts a request by its outcome; `seconds` is null if nothing was sent. */
  onOutcome(priority: UpstreamPriority, outcome: string, seconds: number | null, endpoint: string): void;
  /** Records the seconds that a request waited for a slot of the budget. */
  onTurn(priority: UpstreamPriority, seconds: number): void;
  /** Counts a read by the source of its answer. */
  onRead(priority: UpstreamPriority, source: string): void;
  /** Counts a resource whose final state the service has corrected. */
  onCorrection(resource: string): void;
  /** Adds gauges of the budget and the circuit breaker. */
  watch(upstream: Pick<Upstream, 'state' | 'budget'>): void;
  /**
   * Adds gauges of the requests whose outcome is unknown. A scrape starts a read, and reports the result of
   * the read before.
   */
  watchDoubts(read: () => Promise<readonly Doubt[]>, now: () => Date): void;
}

interface Doubt {
  operation: string;
  movesMoney: boolean;
  requestedAt: Date;
}

const CIRCUITS = ['closed', 'half_open', 'open'] as const;
/** Upper bounds in seconds, from a service nearby to the timeout of a write. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

export function createUpstreamMetrics(): UpstreamMetrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'psa_upstream_requests_total',
    help: 'Requests to the payments service by outcome; no_slot and circuit_open were never sent',
    labelNames: ['class', 'outcome'],
    registers,
  });
  const seconds = new Histogram({
    name: 'psa_upstream_request_seconds',
    help: 'Duration of a request until the last byte of its response or its failure, by endpoint',
    labelNames: ['endpoint', 'outcome'],
    buckets: SECONDS,
    registers,
  });
  const turns = new Histogram({
    name: 'psa_upstream_turn_seconds',
    help: 'Time that a request waited for a slot of the budget, if it got one',
    labelNames: ['class'],
    buckets: SECONDS,
    registers,
  });
  const reads = new Counter({
    name: 'psa_upstream_reads_total',
    help: 'Reads by the source of their answer: upstream, shared, memory, stale',
    labelNames: ['class', 'source'],
    registers,
  });

  const corrections = new Counter({
    name: 'psa_upstream_corrections_total',
    help: 'Resources that have ended otherwise than was known before, by the newer word of the payments service',
    labelNames: ['resource'],
    registers,
  });
  // An alert sees the first correction only as an increase, from 0.
  for (const resource of CORRECTED) corrections.inc({ resource }, 0);

  return {
    registry,
    onOutcome(priority, outcome, took, endpoint) {
      requests.inc({ class: priority, outcome });
      if (took !== null) seconds.observe({ endpoint, outcome }, took);
    },
    onTurn: (priority, took) => turns.observe({ class: priority }, took),
    onRead: (priority, source) => reads.inc({ class: priority, source }),
    onCorrection: (resource) => corrections.inc({ resource }),
    watchDoubts(read, now) {
      let known: readonly Doubt[] = [];
      const refresh = () => {
        read().then(
          (doubts) => {
            known = doubts;
          },
          // The next scrape reads again.
          () => undefined,
        );
      };
      new Gauge({
        name: 'psa_upstream_doubts',
        help: 'Requests to the payments service whose outcome is unknown',
        labelNames: ['operation'],
        registers,
        collect() {
          refresh();
          this.reset();
          for (const { operation } of known) this.inc({ operation });
        },
      });
      new Gauge({
        name: 'psa_upstream_oldest_doubt_seconds',
        help: 'Age of the oldest request that moves money and whose outcome is unknown; 0 where there is none',
        registers,
        collect() {
          const ages = known
            .filter(({ movesMoney }) => movesMoney)
            .map(({ requestedAt }) => now().getTime() - requestedAt.getTime());
          this.set(Math.max(0, ...ages) / 1_000);
        },
      });
    },
    watch(upstream) {
      new Gauge({
        name: 'psa_upstream_budget_used',
        help: 'Slots of the budget held by each class over all instances, as last read by this instance',
        labelNames: ['class'],
        registers,
        collect() {
          const { used } = upstream.budget();
          for (const each of UPSTREAM_PRIORITIES) this.set({ class: each }, used[each]);
        },
      });
      new Gauge({
        name: 'psa_upstream_budget_limit',
        help: 'Requests that the budget allows in a window; 0 where it is switched off',
        registers,
        collect() {
          this.set(upstream.budget().limit ?? 0);
        },
      });
      new Gauge({
        name: 'psa_upstream_blocked_until_seconds',
        help: 'Unix time until which the service asked to be left alone; 0 where it did not',
        registers,
        collect() {
          this.set((upstream.budget().blockedUntil?.getTime() ?? 0) / 1_000);
        },
      });
      new Gauge({
        name: 'psa_upstream_circuit',
        help: 'The state of the circuit breaker of a class is the one that is 1',
        labelNames: ['class', 'state'],
        registers,
        collect() {
          for (const [each, circuit] of Object.entries(upstream.state().circuits))
            for (const state of CIRCUITS) this.set({ class: each, state }, state === circuit ? 1 : 0);
        },
      });
    },
  };
}
