import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Caller } from '../access/model.ts';
import type { Clock } from '../kernel/clock.ts';
import { RateLimitError } from '../kernel/errors.ts';
import type { RateLimitState } from './context.ts';

/** Root fields a minute for one visitor's address on one browser token: a widget that polls needs 30. */
const TOKEN_LIMIT = 120;
const MINUTE_SECONDS = 60;

/** Limits on `/graphql`, counted by root field: an API key has one, each visitor of a browser token another. */
export interface RootFieldLimits {
  /** @throws RateLimitError */
  take(caller: Caller, address: string): Promise<void>;
  look(caller: Caller, address: string): Promise<RateLimitState>;
}

export function createRootFieldLimits({ perKey, clock }: { perKey: number; clock: Clock }): RootFieldLimits {
  const keys = new RateLimiterMemory({ keyPrefix: 'key', points: perKey, duration: MINUTE_SECONDS });
  const visitors = new RateLimiterMemory({
    keyPrefix: 'visitor',
    points: TOKEN_LIMIT,
    duration: MINUTE_SECONDS,
  });
  const of = ({ credential }: Caller, address: string) =>
    credential.kind === 'api_key'
      ? { limiter: keys, key: credential.id }
      : { limiter: visitors, key: `${credential.id} ${address}` };

  return {
    async take(caller, address) {
      const { limiter, key } = of(caller, address);
      try {
        await limiter.consume(key);
      } catch (refused) {
        if (refused instanceof Error) throw refused;
        const { msBeforeNext } = refused as { msBeforeNext: number };
        throw new RateLimitError(`${limiter.points} root fields a minute`, Math.ceil(msBeforeNext / 1_000));
      }
    },
    async look(caller, address) {
      const { limiter, key } = of(caller, address);
      const used = await limiter.get(key);
      const now = clock.now().getTime();
      return {
        limit: limiter.points,
        remaining: used ? Math.max(0, used.remainingPoints) : limiter.points,
        resetAt: new Date(now + (used?.msBeforeNext ?? 0)),
      };
    },
  };
}
