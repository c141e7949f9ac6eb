import type { Clock } from '../../server/src/kernel/clock.ts';

/** A clock that stands still until a test moves it, and then runs the due tasks in the order of their instants. */
export interface ManualClock extends Clock {
  /** Moves the clock by `ms`, and runs each task at its own instant. */
  advance(ms: number): void;
  moveTo(instant: Date): void;
  /** Moves the clock past all due tasks and then runs each once, as the timers of a process run after a suspension. */
  jumpTo(instant: Date): void;
  /** The instant of the next scheduled task; null without one. */
  nextAt(): Date | null;
}

export function createManualClock(start = new Date('2026-03-02T12:00:00.000Z')): ManualClock {
  let now = start.getTime();
  const tasks = new Set<{ at: number; task: () => void }>();

  function moveTo(instant: Date): void {
    const target = instant.getTime();
    for (;;) {
      const next = [...tasks].filter(({ at }) => at <= target).sort((left, right) => left.at - right.at)[0];
      if (!next) break;
      tasks.delete(next);
      now = Math.max(now, next.at);
      next.task();
    }
    now = Math.max(now, target);
  }

  function jumpTo(instant: Date): void {
    now = Math.max(now, instant.getTime());
    const due = [...tasks].filter(({ at }) => at <= now).sort((left, right) => left.at - right.at);
    for (const each of due) if (tasks.delete(each)) each.task();
  }

  return {
    now: () => new Date(now),
    ms: () => now,
    schedule(at, task) {
      const entry = { at: at.getTime(), task };
      if (entry.at <= now) setImmediate(() => tasks.delete(entry) && task());
      tasks.add(entry);
      return () => tasks.delete(entry);
    },
    moveTo,
    jumpTo,
    nextAt: () => (tasks.size === 0 ? null : new Date(Math.min(...[...tasks].map(({ at }) => at)))),
    advance: (ms) => moveTo(new Date(now + ms)),
  };
}
