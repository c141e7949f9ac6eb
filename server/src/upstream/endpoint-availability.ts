import { type Clock, plusMs } from '../kernel/clock.ts';
import type { Environment } from '../kernel/tenant.ts';
import { isNotImplemented, noEndpoint } from './responses.ts';
import type { UpstreamAnswer } from './upstream.ts';

export interface Endpoint {
  /** `GET /v1/products/{id}`: where it names a resource, 404 is about that. */
  readonly name: string;
  /** What it is for: `deleting products`. */
  readonly inWords: string;
}

type Answered = Pick<UpstreamAnswer, 'status'>;

/**
 * What the service was found not to have: it is not asked for it again at once, for each question costs. By this instance
 * alone, for ten minutes: the service may get the endpoint, or a wrong answer have come from elsewhere.
 */
export interface Endpoints {
  isMissing(environment: Environment, endpoint: Endpoint): boolean;
  markMissing(environment: Environment, endpoint: Endpoint): void;
  /** @throws UpstreamError where there is no such endpoint, and what `asking` throws */
  ask<Answer extends Answered>(
    environment: Environment,
    endpoint: Endpoint,
    asking: () => Promise<Answer>,
  ): Promise<Answer>;
  /** Null where there is no such endpoint. @throws what `asking` throws */
  askIfThere<Answer extends Answered>(
    environment: Environment,
    endpoint: Endpoint,
    asking: () => Promise<Answer>,
  ): Promise<Answer | null>;
}

const REMEMBERED_MS = 10 * 60_000;

export function createEndpoints(clock: Clock): Endpoints {
  const until = new Map<string, Date>();
  const keyOf = (environment: Environment, { name }: Endpoint) => `${environment} ${name}`;

  function isMissing(environment: Environment, endpoint: Endpoint): boolean {
    const end = until.get(keyOf(environment, endpoint));
    return end !== undefined && clock.now() < end;
  }

  function markMissing(environment: Environment, endpoint: Endpoint): void {
    until.set(keyOf(environment, endpoint), plusMs(clock.now(), REMEMBERED_MS));
  }

  const askIfThere: Endpoints['askIfThere'] = async (environment, endpoint, asking) => {
    if (isMissing(environment, endpoint)) return null;
    const answer = await asking().catch((error: unknown) => {
      if (isNotImplemented(error)) return null;
      throw error;
    });
    if (answer !== null && !isOfNone(endpoint, answer)) return answer;
    markMissing(environment, endpoint);
    return null;
  };

  return {
    isMissing,
    markMissing,
    askIfThere,
    async ask(environment, endpoint, asking) {
      const answer = await askIfThere(environment, endpoint, asking);
      if (answer === null) throw noEndpoint(endpoint.inWords);
      return answer;
    },
  };
}

/** Nothing is under this path, or not for this method; 501 comes as a fault. */
function isOfNone({ name }: Endpoint, { status }: Answered): boolean {
  return status === 405 || (status === 404 && !name.includes('{'));
}

/** The document's own words in a path; whatever else stands there names a resource. */
const WORDS: ReadonlySet<string> = new Set([
  'v1',
  'wallet',
  'payouts',
  'subaccounts',
  'statement',
  'transfers',
  'payout',
  'card-payments',
  'products',
  'sandbox',
  'payments',
]);

/** `GET /v1/subaccounts/{id}/statement`: what was asked for, for the metrics and the traces, without whose it is. */
export function endpointOf({ method, path }: { method: string; path: string }): string {
  const [pathname = ''] = path.split('?');
  const parts = pathname.split('/').map((part) => (part === '' || WORDS.has(part) ? part : '{id}'));
  return `${method} ${parts.join('/')}`;
}
