import { type Clock, plusMs } from '../kernel/clock.ts';
import { type CircuitState, UpstreamFault } from './upstream.ts';

/** So many faults one after the other open it. */
const FAULTS = 5;
const FIRST_OPEN_MS = 5_000;
const LONGEST_OPEN_MS = 60_000;
/** By up to so much of it an opening is shorter, so that instances do not all come back at once. */
const JITTER = 0.2;

/** Keeps a service that fails from being asked, and us from waiting for it. */
export interface Breaker {
  /** Whether a request may go. @throws UpstreamFault `circuit_open` */
  check(): void;
  /** A request goes; what is returned is told, once, whether the service was there. @throws as `check` */
  begin(): (answered: boolean) => void;
  state(): { circuit: CircuitState; since: Date };
}

/**
 * Closed: faults in a row are counted. Open: nothing goes. When its time is over it is half open: one request at a time
 * goes, and what becomes of that closes it, or opens it for twice as long.
 */
export function createBreaker({ clock, random }: { clock: Clock; random: () => number }): Breaker {
  let faults = 0;
  let openings = 0;
  let since = clock.now();
  /** Null while it is closed. */
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
        // An answer is an answer, even to what was asked before it opened.
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
