import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../kernel/clock.ts';
import { createPolled } from './polled.ts';

/** The number of endpoints of webhooks with one status. */
export interface EndpointCount {
  readonly status: string;
  readonly count: number;
}

/** A gauge of the endpoints of all accounts. It is missing while the database does not answer. */
export function watchEndpoints({
  registers,
  clock,
  endpoints,
}: {
  registers: Registry[];
  clock: Clock;
  endpoints: () => Promise<readonly EndpointCount[]>;
}): () => Promise<void> {
  const { read, stop } = createPolled(clock, endpoints);
  new Gauge({
    name: 'psa_webhook_endpoints',
    help: 'Endpoints of webhooks of all accounts: enabled, failing, disabled by the merchant, or disabled_by_failures',
    labelNames: ['status'],
    registers,
    collect() {
      this.reset();
      for (const { status, count } of read()) this.set({ status }, count);
    },
  });
  return stop;
}
