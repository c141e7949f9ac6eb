import { type Clock, plusMs } from '../kernel/clock.ts';
import {
  type CircuitState,
  type RequestOptions,
  UPSTREAM_PRIORITIES,
  UpstreamFault,
  type UpstreamPriority,
  type UpstreamState,
} from './upstream.ts';

/** The number of faults in a row that open a circuit. */
const FAULT_THRESHOLD = 5;
const FIRST_OPEN_MS = 5_000;
const MAX_OPEN_MS = 60_000;
/**
 * The largest fraction by which a circuit opens for less time, so that instances do not all retry at once.
 */
const JITTER = 0.2;
/** The states of a circuit, in the order of how few requests they let through. */
const LEAST_FIRST: readonly CircuitState[] = ['open', 'half_open', 'closed'];

/** The outcome of a request for its circuit. `not_reached`, unlike `failed`, cannot be caused by a caller. */
type Outcome = 'answered' | 'failed' | 'not_reached';
type Admitted = Pick<RequestOptions, 'priority' | 'subject'>;

/**
 * Circuit breakers, one for each class of requests. They keep requests from a failing service, and callers
 * from waiting for it.
 */
export interface Breaker {
  /** Asserts that a request may be sent. @throws UpstreamFault `circuit_open` */
  check(request: Admitted): void;
  /** Admits a request; the caller calls the returned function once, with the outcome. @throws as `check` */
  begin(request: Admitted): (outcome: Outcome) => void;
  state(): Pick<UpstreamState, 'circuit' | 'since' | 'circuits'>;
}

/** The circuit of one class. */
interface Circuit {
  check(): void;
  begin(by: string | null): (outcome: Outcome) => void;
  close(): void;
  state(): { circuit: CircuitState; since: Date };
}

/**
 * Creates the circuit breakers. A fault counts in its class alone: requests of payers that make the service
 * fail do not block those of the merchant. An answer shows that the service works, and closes all circuits.
 */
export function createBreaker(options: { clock: Clock; random: () => number }): Breaker {
  const circuits = Object.fromEntries(
    UPSTREAM_PRIORITIES.map((each) => [each, createCircuit({ ...options, probesAlways: each === 'money' })]),
  ) as Record<UpstreamPriority, Circuit>;
  const all = Object.values(circuits);

  return {
    check: ({ priority }) => circuits[priority].check(),
    begin({ priority, subject = null }) {
      const settle = circuits[priority].begin(subject && `${subject.token} ${subject.network}`);
      return (outcome) => {
        settle(outcome);
        if (outcome === 'answered') for (const circuit of all) circuit.close();
      };
    },
    state() {
      const states = UPSTREAM_PRIORITIES.map((each) => ({ each, ...circuits[each].state() }));
      const circuit = LEAST_FIRST.find((state) => states.some((one) => one.circuit === state))!;
      const changedMs = states.filter((one) => one.circuit === circuit).map(({ since }) => since.getTime());
      const byClass = Object.fromEntries(states.map((one) => [one.each, one.circuit]));
      return {
        circuit,
        since: new Date(Math.max(...changedMs)),
        circuits: byClass as UpstreamState['circuits'],
      };
    },
  };
}

/**
 * Creates a circuit. While closed, it counts faults in a row; faults of one subject alone do not open it.
 * While open, for 5 s at first, it refuses every request. Then it is half open: it sends one request at a
 * time, which closes it, or opens it for twice as long, up to 60 s. A circuit that `probesAlways` is half
 * open at once.
 */
function createCircuit({
  clock,
  random,
  probesAlways,
}: {
  clock: Clock;
  random: () => number;
  probesAlways: boolean;
}): Circuit {
  let faults = 0;
  /**
   * The subject of all faults in a row; undefined before the first, null if there are several subjects or
   * none.
   */
  let faultsOf: string | null | undefined;
  let openCount = 0;
  let since = clock.now();
  /** The instant at which the open circuit becomes half open; null while it is closed. */
  let openUntil: Date | null = null;
  let isProbing = false;

  function state(): CircuitState {
    if (!openUntil) return 'closed';
    const remainingMs = openUntil.getTime() - clock.ms();
    // A longer time was computed before the clock was set back.
    return remainingMs > 0 && remainingMs <= MAX_OPEN_MS ? 'open' : 'half_open';
  }

  function check(): void {
    const circuit = state();
    if (circuit === 'open' || (circuit === 'half_open' && isProbing))
      throw new UpstreamFault('circuit_open', 'no');
  }

  function open(): void {
    const openMs = probesAlways ? 0 : Math.min(MAX_OPEN_MS, FIRST_OPEN_MS * 2 ** openCount);
    openCount += 1;
    since = clock.now();
    openUntil = plusMs(since, Math.round(openMs * (1 - JITTER * random())));
  }

  function close(): void {
    faults = 0;
    faultsOf = undefined;
    openCount = 0;
    if (!openUntil) return;
    openUntil = null;
    since = clock.now();
  }

  return {
    check,
    close,
    begin(by) {
      check();
      const isProbe = openUntil !== null;
      if (isProbe) isProbing = true;
      return (outcome) => {
        if (isProbe) isProbing = false;
        // Any answer closes the circuit, even one to a request from before it opened.
        if (outcome === 'answered') return close();
        faults += 1;
        const blamed = outcome === 'failed' ? by : null;
        faultsOf = faultsOf === undefined || faultsOf === blamed ? blamed : null;
        if (isProbe || (!openUntil && faults >= FAULT_THRESHOLD && faultsOf === null)) open();
      };
    },
    state() {
      const circuit = state();
      return { circuit, since: circuit === 'half_open' ? openUntil! : since };
    },
  };
}
