import { isIPv6 } from 'node:net';
import type { Caller } from '../access/model.ts';
import type { Clock } from '../kernel/clock.ts';
import { RateLimitError } from '../kernel/errors.ts';
import type { RateLimitState } from './context.ts';

/** Root fields a minute for one visitor's address on one browser token: a widget that polls needs 30. */
const TOKEN_LIMIT = 120;
const MINUTE_MS = 60_000;

/** Limits on `/graphql`, counted by root field: an API key has one, each visitor of a browser token another. */
export interface RootFieldLimits {
  /** @throws RateLimitError */
  take(caller: Caller, address: string): void;
  look(caller: Caller, address: string): RateLimitState;
}

/** Of this instance: several of them allow so much each. */
export function createRootFieldLimits({ perKey, clock }: { perKey: number; clock: Clock }): RootFieldLimits {
  const keys = createWindows(perKey, clock);
  const visitors = createWindows(TOKEN_LIMIT, clock);
  const of = ({ credential }: Caller, address: string) =>
    credential.kind === 'api_key'
      ? { windows: keys, key: credential.id }
      : { windows: visitors, key: `${credential.id} ${networkOf(address)}` };

  return {
    take(caller, address) {
      const { windows, key } = of(caller, address);
      const { limit, remaining, resetAt } = windows.look(key);
      if (remaining === 0)
        throw new RateLimitError(
          `${limit} root fields a minute`,
          Math.max(1, Math.ceil((resetAt.getTime() - clock.now().getTime()) / 1_000)),
        );
      windows.take(key);
    },
    look(caller, address) {
      const { windows, key } = of(caller, address);
      return windows.look(key);
    },
  };
}

/** A minute for each key, from its first use on. */
function createWindows(limit: number, clock: Clock) {
  /** In the order in which they end, for each is as long as the others. */
  const windows = new Map<string, { endsAt: number; used: number }>();

  function current(key: string, now: number) {
    for (const [oldest, { endsAt }] of windows) {
      if (endsAt > now) break;
      windows.delete(oldest);
    }
    const window = windows.get(key);
    // One that ends later than a minute from now is from before the clock was set back.
    return window && window.endsAt <= now + MINUTE_MS ? window : { endsAt: now + MINUTE_MS, used: 0 };
  }

  return {
    take(key: string): void {
      const { endsAt, used } = current(key, clock.now().getTime());
      windows.set(key, { endsAt, used: used + 1 });
    },
    look(key: string): RateLimitState {
      const { endsAt, used } = current(key, clock.now().getTime());
      return { limit, remaining: limit - used, resetAt: new Date(endsAt) };
    },
  };
}

/** An IPv6 visitor has a whole /64 to choose addresses from, so that is who is counted. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.replace(/%.*/, '').split('::');
  const groups = (text: string | undefined) => (text ? text.split(':') : []);
  const left = groups(head);
  const right = groups(tail);
  const all = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return `${all.slice(0, 4).join(':')}::/64`;
}
