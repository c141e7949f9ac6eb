import { type Clock, plusMs } from '../kernel/clock.ts';
import { CLOCK_MARGIN_MS } from './recognise.ts';
import type { UpstreamAnswer } from './upstream.ts';

/**
 * The difference up to which two clocks count as equal: the header has whole seconds, and an answer takes
 * some time.
 */
const SAME_MS = 60_000;

/** The clock of the service, as the `Date` header of its answers shows it. */
export interface ServiceClock {
  /** Measures the clock by an answer. */
  note(answer: Pick<UpstreamAnswer, 'headers'>): void;
  /** The instant by the service's clock. */
  of(instant: Date): Date;
}

export function createServiceClock(clock: Pick<Clock, 'ms'>): ServiceClock {
  let offsetMs = 0;
  /** The last header, which all answers of one second have. */
  let last = { date: '', ms: Number.NaN };
  return {
    note({ headers: { date = '' } }) {
      if (date !== last.date) last = { date, ms: Date.parse(date) };
      const shown = last.ms;
      if (Number.isNaN(shown)) return;
      const measured = shown - clock.ms();
      offsetMs = Math.abs(measured) <= SAME_MS || Math.abs(measured) > CLOCK_MARGIN_MS ? 0 : measured;
    },
    of: (instant) => plusMs(instant, offsetMs),
  };
}
