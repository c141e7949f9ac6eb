import { Gauge, type Registry } from 'prom-client';
import { type Clock, plusMs } from '../../kernel/clock.ts';
import type { VerifiedLaw } from '../verify/model.ts';

/** The interval at which the results are read: a scrape never waits for it. */
const VERIFIED_MS = 60_000;

/** Gauges of what `psa verify` has last found in all accounts. They are missing before its first run. */
export function watchVerified({
  registers,
  clock,
  verified,
}: {
  registers: Registry[];
  clock: Clock;
  verified: () => Promise<readonly VerifiedLaw[]>;
}): () => Promise<void> {
  let known: readonly VerifiedLaw[] = [];
  let query: Promise<void> | null = null;
  let cancel: () => void;
  function refresh(): void {
    cancel = clock.schedule(plusMs(clock.now(), VERIFIED_MS), refresh);
    query ??= verified()
      .then(
        (laws) => {
          known = laws;
        },
        () => undefined,
      )
      .finally(() => {
        query = null;
      });
  }
  refresh();
  new Gauge({
    name: 'psa_verify_findings',
    help: 'What breaks a law of the books, as psa verify has last found it in all accounts',
    labelNames: ['law'],
    registers,
    collect() {
      this.reset();
      for (const { law, findings } of known) this.set({ law }, findings);
    },
  });
  new Gauge({
    name: 'psa_verify_age_seconds',
    help: 'Time since psa verify has last decided every law in all accounts: the oldest of the laws counts',
    registers,
    collect() {
      this.reset();
      if (known.length === 0) return;
      const oldest = Math.min(...known.map(({ verifiedAt }) => verifiedAt.getTime()));
      this.set(Math.max(0, clock.ms() - oldest) / 1_000);
    },
  });
  return async () => {
    cancel();
    await query;
  };
}
