import { type Clock, plusMs } from '../kernel/clock.ts';

/** What the service was found not to have: it is not asked for it again at once, for each question costs. */
export interface Endpoints {
  isMissing(endpoint: string): boolean;
  markMissing(endpoint: string): void;
}

const REMEMBERED_MS = 10 * 60_000;

/** By this instance alone, for ten minutes: the service may get the endpoint, or a wrong answer have come from elsewhere. */
export function createEndpoints(clock: Clock): Endpoints {
  const until = new Map<string, Date>();
  return {
    isMissing(endpoint) {
      const end = until.get(endpoint);
      return end !== undefined && clock.now() < end;
    },
    markMissing(endpoint) {
      until.set(endpoint, plusMs(clock.now(), REMEMBERED_MS));
    },
  };
}
