import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../kernel/clock.ts';
import { createPolled } from './polled.ts';

/** The number of waiting tasks of one kind, as the database counts them. */
export interface Backlog {
  readonly kind: string;
  /** Tasks that are due and that no instance is doing. */
  readonly due: number;
  readonly underWay: number;
  readonly later: number;
  /** The instant at which the oldest due task fell due; null if none is due. */
  readonly oldestDueAt: Date | null;
  /** The next instant at which a future task falls due; null if there is none. */
  readonly nextDueAt: Date | null;
}

/** Gauges of the tasks of all instances, which share one table. They are missing while the database does not answer. */
export function watchBacklog({
  registers,
  clock,
  backlog,
}: {
  registers: Registry[];
  clock: Clock;
  backlog: () => Promise<readonly Backlog[]>;
}): () => Promise<void> {
  const { read, stop } = createPolled(clock, backlog);
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
    help: 'Time since the oldest due task became due; 0 if no task is due',
    labelNames: ['kind'],
    registers,
    collect() {
      this.reset();
      for (const { kind, oldestDueAt } of read())
        this.set({ kind }, oldestDueAt ? Math.max(0, clock.ms() - oldestDueAt.getTime()) / 1_000 : 0);
    },
  });
  new Gauge({
    name: 'psa_tasks_next_due_seconds',
    help: 'Time until the next task of those for later becomes due; missing if there is none',
    labelNames: ['kind'],
    registers,
    collect() {
      this.reset();
      for (const { kind, nextDueAt } of read())
        if (nextDueAt) this.set({ kind }, Math.max(0, nextDueAt.getTime() - clock.ms()) / 1_000);
    },
  });
  return stop;
}
