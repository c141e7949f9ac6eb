// A whole server in a process of its own, to be killed: what main.ts starts, with the payer's page replaced by
// messages from the parent, a clock that can be ahead, and a statement at which it kills itself.
import { writeSync } from 'node:fs';
import pg from 'pg';
import { type App, createApp } from '../../server/src/app.ts';
import type { PayResult } from '../../server/src/card-payments/model.ts';
import { readConfig } from '../../server/src/config.ts';
import { type Clock, createSystemClock, plusMs } from '../../server/src/kernel/clock.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import { type Audit, audit } from './audit.ts';

/**
 * When to die: at the n-th statement from now on (or the n-th COMMIT), that many turns of the event loop after it came
 * up. After none it has not been sent.
 */
export interface Moment {
  statement: number;
  commits: boolean;
  turns: number;
}

/** What a parent may ask for, and what it is answered. */
export interface Requests {
  start(request: { environment: Record<string, string>; clockAheadMs: number; dieAt: Moment | null }): {
    url: string;
  };
  dieAt(moment: Moment): null;
  pay(request: { orderCode: string; cardNumber: string }): { kind: PayResult['kind'] };
  refund(request: { orderCode: string }): null;
  /** Does all work that is due. */
  settle(request: null): null;
  audit(request: null): Audit;
  checkpoint(request: null): null;
}

export type Asked = { id: number; name: keyof Requests; request: unknown };
export type Said = { id: number; value: unknown } | { id: number; error: string } | { fault: string };

let moment: Moment | null = null;
let app: App;
let clock: Clock;
let live: Tenant;

const answers: {
  [Name in keyof Requests]: (request: Parameters<Requests[Name]>[0]) => Promise<ReturnType<Requests[Name]>>;
} = {
  async start({ environment, clockAheadMs, dieAt }) {
    moment = dieAt;
    clock = createClockAhead(clockAheadMs);
    const fault = (value: unknown) =>
      say({ fault: value instanceof Error ? String(value.stack) : JSON.stringify(value) });
    app = await createApp({
      config: readConfig({ ...environment, PORT: '0' }),
      clock,
      log: {
        info: () => undefined,
        warn: () => undefined,
        error: ({ err }: { err?: unknown }, message: string) => fault(err ?? message),
      },
      onFatal: fault,
    });
    const account = await app.database.sql.selectFrom('account').select('id').executeTakeFirstOrThrow();
    live = { accountId: account.id, environment: 'live' };
    return { url: app.url };
  },
  async dieAt(newMoment) {
    moment = newMoment;
    return null;
  },
  async pay({ orderCode, cardNumber: number }) {
    const card = { number, holder: 'ANA', expiryMonth: 12, expiryYear: 2099, securityCode: '123' };
    return { kind: (await app.cardPayments.pay(orderCode, card)).kind };
  },
  async refund({ orderCode }) {
    await app.cardPayments.refund(live, orderCode);
    return null;
  },
  async settle() {
    await app.work.settled();
    return null;
  },
  audit: () => audit(app.database, clock.now()),
  async checkpoint() {
    await app.database.sql.executeQuery({ sql: 'checkpoint', parameters: [] } as never);
    return null;
  },
};

/** Every statement of the server, BEGIN and COMMIT too, passes here on its way to either database. */
const sendStatement = pg.Client.prototype.query as (this: pg.Client, ...args: unknown[]) => unknown;
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  if (moment && (!moment.commits || args[0] === 'commit') && --moment.statement <= 0) {
    const { turns } = moment;
    moment = null;
    dieAfter(turns, args[0]);
  }
  return sendStatement.apply(this, args);
} as typeof pg.Client.prototype.query;

function dieAfter(turns: number, statement: unknown): void {
  if (turns > 0) return void setImmediate(dieAfter, turns - 1, statement);
  // Written at once, whereas a message to the parent would wait for another turn.
  writeSync(
    process.stdout.fd,
    `${typeof statement === 'string' ? statement.slice(0, 2_000) : 'a statement'}\n`,
  );
  process.kill(process.pid, 'SIGKILL');
}

function createClockAhead(aheadMs: number): Clock {
  const system = createSystemClock();
  return {
    now: () => plusMs(system.now(), aheadMs),
    schedule: (at, task) => system.schedule(plusMs(at, -aheadMs), task),
  };
}

function say(said: Said): void {
  process.send?.(said);
}

process.on('message', ({ id, name, request }: Asked) => {
  (answers[name] as (request: unknown) => Promise<unknown>)(request).then(
    (value) => say({ id, value }),
    (error: unknown) => say({ id, error: error instanceof Error ? String(error.stack) : String(error) }),
  );
});
// A parent that is gone needs no server.
process.on('disconnect', () => process.exit());
