import { type Clock, plusMs } from '../kernel/clock.ts';
import { type CircuitState, UpstreamFault } from './upstream.ts';

/** The number of faults in a row that open the circuit. */
const FAULT_THRESHOLD = 5;
const FIRST_OPEN_MS = 5_000;
const MAX_OPEN_MS = 60_000;
/** The fraction by which the circuit may open for less, so that instances do not all retry at once. */
const JITTER = 0.2;

/** A circuit breaker: it keeps requests from a service that fails, and callers from waiting for it. */
export interface Breaker {
  /** Asserts that a request may be sent. @throws UpstreamFault `circuit_open` */
  check(): void;
  /** Admits a request; the returned function is called once, with whether the service answered. @throws as `check` */
  begin(): (answered: boolean) => void;
  /** The state, and the instant of its last change. */
  state(): { circuit: CircuitState; since: Date };
}

/**
 * Creates a circuit breaker. Closed, it counts faults in a row. Open, for 5 s at first, it refuses every request. Then it
 * is half open: one request at a time is sent, which closes the circuit or opens it for twice as long, up to 60 s.
 */
export function createBreaker({ clock, random }: { clock: Clock; random: () => number }): Breaker {
  let faults = 0;
  let openCount = 0;
  let since = clock.now();
  /** The instant at which the open circuit becomes half open; null where it is closed. */
  let openUntil: Date | null = null;
  let isProbing = false;

  function circuit(): CircuitState {
    if (!openUntil) return 'closed';
    const remainingMs = openUntil.getTime() - clock.ms();
    // A longer time than any was begun before the clock was set back.
    return remainingMs > 0 && remainingMs <= MAX_OPEN_MS ? 'open' : 'half_open';
  }

  function check(): void {
    const state = circuit();
    if (state === 'open' || (state === 'half_open' && isProbing))
      throw new UpstreamFault('circuit_open', 'no');
  }

  function open(): void {
    const openMs = Math.min(MAX_OPEN_MS, FIRST_OPEN_MS * 2 ** openCount);
    openCount += 1;
    since = clock.now();
    openUntil = plusMs(since, Math.round(openMs * (1 - JITTER * random())));
  }

  function close(): void {
    faults = 0;
    openCount = 0;
    if (!openUntil) return;
    openUntil = null;
    since = clock.now();
  }

  return {
    check,
    begin() {
      check();
      const isProbe = openUntil !== null;
      if (isProbe) isProbing = true;
      return (answered) => {
        if (isProbe) isProbing = false;
        // Any answer closes the circuit, even one to a request from before it opened.
        if (answered) return close();
        faults += 1;
        if (isProbe || (!openUntil && faults >= FAULT_THRESHOLD)) open();
      };
    },
    state() {
      const state = circuit();
      return { circuit: state, since: state === 'half_open' ? openUntil! : since };
    },
  };
}
