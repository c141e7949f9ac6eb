import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../kernel/clock.ts';
import type { Behind } from '../../kernel/records.ts';

/** A gauge that shows whether records are missing, as last read. */
export function watchRecords(registers: Registry[], behind: () => Behind | null, clock: Clock): void {
  new Gauge({
    name: 'psa_records_behind_seconds',
    help: 'Age of the instant since which the records lack something, after a restore or a failover; 0 where they are complete',
    registers,
    collect() {
      const known = behind();
      this.set(known ? (clock.ms() - known.since.getTime()) / 1_000 : 0);
    },
  });
}
