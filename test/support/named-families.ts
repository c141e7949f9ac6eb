import { onTestFinished } from 'vitest';
import { type Arrival, type Fault, PASS } from './fault-proxy.ts';
import { type Pair, type Service, startPair } from './pair.ts';

/** The fault of a request that is carried out, and whose answer is lost. */
export const LOST: Fault = { kind: 'reset', when: 'after' };

/** Starts a facade whose operator has named these families of the service. It is closed at the end of the test. */
export async function startNamed(
  service: Service,
  families: string,
  options: Parameters<typeof startPair>[0] = {},
): Promise<Pair> {
  const pair = await startPair({
    service,
    account: {},
    environment: { PSA_UPSTREAM_FAMILIES: families },
    ...options,
  });
  onTestFinished(async () => {
    await pair.close();
    await service.app.database.sql
      .deleteFrom('task')
      .where('account_id', '=', pair.accountIds.service)
      .execute();
  });
  return pair;
}

/** The merchant at the service, and at the facade. */
export const there = ({ accountIds }: Pair) =>
  ({ accountId: accountIds.service, environment: 'live' }) as const;
export const here = ({ accountIds }: Pair) =>
  ({ accountId: accountIds.facade, environment: 'live' }) as const;

export const live = ({ facade, keys }: Pair) => facade.client(keys.live);

/** The service's own ports. */
export const portsOf = ({ app }: Service) =>
  app.servicesFor({ priority: 'merchant', subject: null, onRead: () => undefined });

/** Loses the answer to the first of these requests. */
export function loseFirst(pair: Pair, matches: (arrival: Arrival) => boolean): void {
  let isLost = false;
  pair.proxy.plan = (arrival) => {
    if (isLost || !matches(arrival)) return PASS;
    isLost = true;
    return LOST;
  };
}

export const sent = (pair: Pair, method: string) =>
  pair.proxy.arrivals.filter((arrival) => arrival.method === method);
