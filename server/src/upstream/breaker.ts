import { type Clock, plusMs } from '../kernel/clock.ts';
import { type CircuitState, UpstreamFault } from './upstream.ts';

/** The number of faults in a row that open the circuit. */
const FAULTS = 5;
const FIRST_OPEN_MS = 5_000;
const LONGEST_OPEN_MS = 60_000;
/** The part by which an opening may be shorter, so that instances do not all come back at once. */
const JITTER = 0.2;

/** Keeps requests from a service that fails, and callers from waiting for it. */
export interface Breaker {
  /** Passes where a request may go. @throws UpstreamFault `circuit_open` */
  check(): void;
  /** Admits a request; the returned function is called once, with whether the service answered. @throws as `check` */
  begin(): (answered: boolean) => void;
  state(): { circuit: CircuitState; since: Date };
}

/**
 * Creates a circuit breaker. Closed, it counts faults in a row. Open, it lets nothing through. After its time it is
 * half open: one request at a time goes, whose end closes the circuit, or opens it for twice as long.
 */
export function createBreaker({ clock, random }: { clock: Clock; random: () => number }): Breaker {
  let faults = 0;
  let openings = 0;
  let since = clock.now();
  /** The end of an opening; null where the circuit is closed. */
  let openUntil: Date | null = null;
  let probing = false;

  function circuit(): CircuitState {
    if (!openUntil) return 'closed';
    return clock.now() < openUntil ? 'open' : 'half_open';
  }

  function check(): void {
    const state = circuit();
    if (state === 'open' || (state === 'half_open' && probing)) throw new UpstreamFault('circuit_open', 'no');
  }

  function open(): void {
    const longest = Math.min(LONGEST_OPEN_MS, FIRST_OPEN_MS * 2 ** openings);
    openings += 1;
    since = clock.now();
    openUntil = plusMs(since, Math.round(longest * (1 - JITTER * random())));
  }

  function close(): void {
    faults = 0;
    openings = 0;
    if (!openUntil) return;
    openUntil = null;
    since = clock.now();
  }

  return {
    check,
    begin() {
      check();
      const isProbe = openUntil !== null;
      if (isProbe) probing = true;
      return (answered) => {
        if (isProbe) probing = false;
        // An answer is an answer, even to a request from before the circuit opened.
        if (answered) return close();
        faults += 1;
        if (isProbe || (!openUntil && faults >= FAULTS)) open();
      };
    },
    state() {
      const state = circuit();
      return { circuit: state, since: state === 'half_open' ? openUntil! : since };
    },
  };
}
