import { expect } from 'vitest';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import type { TestApp } from '../../support/app.ts';
import { fund } from '../../support/funds.ts';

// Merchants who request payouts at the console.

/** A merchant at the console: limits count by the hour, so each test has its own. */
export interface Merchant {
  tenant: Tenant;
  key: string;
  post: (path: string, input?: object | string, headers?: Record<string, string>) => Promise<Answer>;
}

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of any route
  body: any;
  cookies: string[];
}

export const PIX = { method: 'pix', amountCents: 15_000, destination: 'ana@psa.example' };
export const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, nth) => ({ ...PIX, amountCents: 10_000 + nth, externalId: `F-${nth}` }));

export function merchantsOf(app: () => TestApp) {
  async function post(
    path: string,
    input: object | string,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const { url } = app();
    const response = await fetch(`${url}/console/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url, ...headers },
      body: typeof input === 'string' ? input : JSON.stringify(input),
    });
    return { status: response.status, body: await response.json(), cookies: response.headers.getSetCookie() };
  }

  async function enter(key: string): Promise<Merchant['post']> {
    const { cookies } = await post('sign-in', { key });
    const cookie = cookies[0]!.split(';')[0]!;
    return (path, input = {}, headers = {}) => post(path, input, { cookie, ...headers });
  }

  return {
    post,
    enter,
    async merchant(cents = 10_000_000): Promise<Merchant> {
      const tenant = {
        accountId: await addAccount(app(), { pixMaxCents: 500_000 }),
        environment: 'live',
      } as const;
      await fund({ database: app().database, tenant }, { cents });
      const key = await addKey(app(), tenant);
      return { tenant, key, post: await enter(key) };
    },
    payoutsOf: async ({ tenant }: Pick<Merchant, 'tenant'>) =>
      app()
        .database.sql.selectFrom('payout')
        .select(['amount_cents', 'external_id', 'withdrawal_id'])
        .where('account_id', '=', tenant.accountId)
        .orderBy('number')
        .execute(),
    newestOf: async ({ post }: Merchant) => (await post('payouts/batches/newest')).body.batch,
    async confirm(
      { post, key }: Merchant,
      rows: object[],
      { idempotencyKey = 'lote-1', ...before }: { idempotencyKey?: string; paidBefore?: string[] } = {},
    ): Promise<string> {
      const { status, body } = await post('payouts/batches', { rows, key, idempotencyKey, ...before });
      expect([status, body.replayed]).toEqual([201, false]);
      return body.batchId;
    },
  };
}
