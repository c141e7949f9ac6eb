import { Gauge, Registry } from 'prom-client';
import { UPSTREAM_PRIORITIES, type UpstreamPriority, type UpstreamState } from '../upstream/upstream.ts';
import { createCounts, createTallies } from './tallies.ts';

/** What the upstream and its reads tell, as they come by. */
export interface UpstreamMetrics {
  readonly registry: Registry;
  /** Of a request, as `createUpstream` tells it: in seconds, and null where nothing was sent. */
  onOutcome(of: UpstreamPriority, outcome: string, seconds: number | null, endpoint: string): void;
  /** Of a slot of the budget, as it tells it: in seconds. */
  onTurn(of: UpstreamPriority, seconds: number): void;
  /** Of a read, as `createReads` tells it. */
  onRead(of: UpstreamPriority, source: string): void;
  /** Of a resource that the service has corrected. */
  onCorrection(resource: string): void;
  /** From now on a scrape shows how it stands, too. */
  watch(upstream: { state(): UpstreamState }): void;
  /** The same of the requests whose outcome is unknown. A scrape waits for nobody: it shows what the last one asked for. */
  watchDoubts(read: () => Promise<readonly Doubt[]>, now: () => Date): void;
}

interface Doubt {
  operation: string;
  requestedAt: Date;
}

const CIRCUITS = ['closed', 'half_open', 'open'] as const;
/** From a service next door to the timeout of a write, in seconds. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

export function createUpstreamMetrics(): UpstreamMetrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = createCounts({
    name: 'psa_upstream_requests_total',
    help: 'Requests to the payments service by what became of them; no_slot and circuit_open were never sent',
    labelNames: ['class', 'outcome'],
    registers,
  });
  const seconds = createTallies({
    name: 'psa_upstream_request_seconds',
    help: 'From sending a request to the last byte of its answer, or to its failure, by what was asked for',
    labelNames: ['endpoint', 'outcome'],
    buckets: SECONDS,
    registers,
  });
  const turns = createTallies({
    name: 'psa_upstream_turn_seconds',
    help: 'For how long a request has waited for a slot of the budget, of those that had one',
    labelNames: ['class'],
    buckets: SECONDS,
    registers,
  });
  const reads = createCounts({
    name: 'psa_upstream_reads_total',
    help: 'Reads by where their answer came from: upstream, shared, memory, stale',
    labelNames: ['class', 'source'],
    registers,
  });

  const corrections = createCounts({
    name: 'psa_upstream_corrections_total',
    help: 'Resources that have ended otherwise than was known before, by the newer word of the payments service',
    labelNames: ['resource'],
    registers,
  });

  return {
    registry,
    onOutcome(of, outcome, took, endpoint) {
      requests(of, outcome).n += 1;
      if (took !== null) seconds(endpoint, outcome).add(took);
    },
    onTurn: (of, took) => turns(of).add(took),
    onRead(of, source) {
      reads(of, source).n += 1;
    },
    onCorrection(resource) {
      corrections(resource).n += 1;
    },
    watchDoubts(read, now) {
      let known: readonly Doubt[] = [];
      const refresh = () => {
        read().then(
          (doubts) => {
            known = doubts;
          },
          // The next scrape asks again.
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
        help: 'Age of the oldest request whose outcome is unknown; 0 where there is none',
        registers,
        collect() {
          const ages = known.map(({ requestedAt }) => now().getTime() - requestedAt.getTime());
          this.set(Math.max(0, ...ages) / 1_000);
        },
      });
    },
    watch(upstream) {
      new Gauge({
        name: 'psa_upstream_budget_used',
        help: 'Slots of the budget held by each class over all instances, as this one last saw it',
        labelNames: ['class'],
        registers,
        collect() {
          const { used } = upstream.state().budget;
          for (const each of UPSTREAM_PRIORITIES) this.set({ class: each }, used[each]);
        },
      });
      new Gauge({
        name: 'psa_upstream_budget_limit',
        help: 'Requests that the budget allows in a window; 0 where it is switched off',
        registers,
        collect() {
          this.set(upstream.state().budget.limit ?? 0);
        },
      });
      new Gauge({
        name: 'psa_upstream_blocked_until_seconds',
        help: 'Unix time until which the service asked to be left alone; 0 where it did not',
        registers,
        collect() {
          this.set((upstream.state().blockedUntil?.getTime() ?? 0) / 1_000);
        },
      });
      new Gauge({
        name: 'psa_upstream_circuit',
        help: 'The state of the circuit breaker is the one that is 1',
        labelNames: ['state'],
        registers,
        collect() {
          const { circuit } = upstream.state();
          for (const state of CIRCUITS) this.set({ state }, state === circuit ? 1 : 0);
        },
      });
    },
  };
}
