import { sql } from 'kysely';
import { onTestFinished } from 'vitest';
import { type AccountSettings, DEFAULT_SETTINGS } from '../../server/src/access/model.ts';
import { insertAccount } from '../../server/src/access/store.ts';
import { objectId } from '../../server/src/kernel/ids.ts';
import { type Tenant, tenantKey } from '../../server/src/kernel/tenant.ts';
import { snapshots } from '../../server/src/programs/modes/parts.ts';
import type { Acquirer } from '../../server/src/rails/acquirer.ts';
import type { Bank } from '../../server/src/rails/bank.ts';
import type { LitecoinRail } from '../../server/src/rails/litecoin.ts';
import type { PixRail } from '../../server/src/rails/pix.ts';
import { createSimulatedAcquirer } from '../../server/src/rails/simulated/acquirer.ts';
import { createSimulatedBank, type SimulatedBank } from '../../server/src/rails/simulated/bank.ts';
import type { Committer } from '../../server/src/state/commit/commit.ts';
import { createCommitter } from '../../server/src/state/commit/committer.ts';
import type { Database, Sql } from '../../server/src/state/db/database.ts';
import { STREAM_CHANNEL } from '../../server/src/state/events/announcement.ts';
import { createLogTailer, type LogTailer } from '../../server/src/state/events/log-tailer.ts';
import type { Balances } from '../../server/src/state/ledger/postings.ts';
import { createWorkQueue, type WorkQueue } from '../../server/src/state/work/queue.ts';
import { webhookOutbox } from '../../server/src/webhooks/outbox.ts';
import { createSender, type Send } from '../../server/src/webhooks/sender.ts';
import { advanceClock } from './advance-clock.ts';
import { createManualClock, type ManualClock } from './clock.ts';
import { connectTo, takePostgresDatabase } from './database.ts';
import { balancesOf } from './ledger.ts';
import { runsAll } from './scale.ts';
import { type Slices, wireSlices } from './slices.ts';

/** The slices of a server, wired as in the server, without HTTP. A test runs due work itself. */
export interface Core extends Readonly<Slices> {
  readonly tenant: Tenant;
  readonly database: Database;
  readonly clock: ManualClock;
  readonly committer: Committer;
  readonly tailer: LogTailer;
  readonly acquirer: Acquirer;
  /** The acquirer's ids of this merchant's charges. */
  readonly chargeIds: ReadonlySet<string>;
  /** The simulated bank itself, without the faults of `CoreOptions.bank`. */
  readonly bank: SimulatedBank;
  readonly work: WorkQueue;
  /** Faults in the background. */
  readonly faults: unknown[];
  balances(): Promise<Balances>;
  /** Advances the clock by `ms`, and runs each task at its own instant. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface CoreOptions {
  database: Database;
  clock?: ManualClock;
  /** The tenant of another instance; without it a new account is opened. */
  tenant?: Tenant;
  account?: Partial<AccountSettings>;
  /** Puts faults between the server and the acquirer. */
  acquirer?: (simulated: Acquirer) => Acquirer;
  /** Puts faults between the server and the bank. */
  bank?: (simulated: Bank) => Bank;
  /** Puts faults between the server and the bank of PIX payments. */
  pix?: (simulated: PixRail) => PixRail;
  /** Puts faults between the server and the Litecoin network. */
  litecoin?: (simulated: LitecoinRail) => LitecoinRail;
  /** Puts faults between the server and the receivers of webhooks. */
  send?: (real: Send) => Send;
  /** Whether this instance notifies the others of its commits; `false` loses the NOTIFY. */
  announces?: boolean;
  /** Whether this instance tails the log; `false` is for tests that move the clock by days. */
  follows?: boolean;
}

/** Starts a core, which is closed at the end of the test. */
export async function startCore({
  database,
  clock = createManualClock(),
  tenant: ownTenant,
  account,
  acquirer: wrap = (simulated) => simulated,
  bank: wrapBank = (simulated) => simulated,
  pix: wrapPix,
  litecoin: wrapLitecoin,
  send: wrapSend = (real) => real,
  announces = true,
  follows = true,
}: CoreOptions): Promise<Core> {
  const tenant = ownTenant ?? (await openAccount(database, account));
  const faults: unknown[] = [];
  const onError = (error: unknown) => faults.push(error);

  const tailer = createLogTailer({ database, snapshots, clock, onError });
  const committer = createCommitter({
    database,
    clock,
    outbox: webhookOutbox,
    onCommit(committed) {
      for (const { tenant: changed, tasks, ended, ...appended } of committed) {
        for (const each of ended) work.ended(each);
        for (const task of tasks) work.wake(task);
        if (appended.events.length === 0) continue;
        tailer.wake(changed, appended);
        if (announces) database.notify(STREAM_CHANNEL, tenantKey(changed)).catch(onError);
      }
    },
  });
  const simulated = createSimulatedAcquirer({ database, clock });
  const chargeIds = new Set<string>();
  const acquirer = wrap({
    ...simulated,
    charge(charge) {
      chargeIds.add(charge.id);
      return simulated.charge(charge);
    },
  });
  const bank = createSimulatedBank({ database, clock });
  const { handlers, ...slices } = wireSlices({
    database,
    clock,
    committer,
    acquirer,
    bank: wrapBank(bank),
    wrapPix,
    wrapLitecoin,
    send: wrapSend(compared(createSender({ clock, privateAddresses: true }), onError)),
    privateAddresses: true,
    onFault: onError,
  });
  const work = createWorkQueue({ database, clock, handlers, onError });
  if (follows) await tailer.start();

  let closed: Promise<void> | undefined;
  const core: Core = {
    tenant,
    database,
    clock,
    committer,
    tailer,
    acquirer,
    chargeIds,
    bank,
    ...slices,
    work,
    handlers,
    faults,
    balances: () => balancesOf(database.sql, tenant),
    pass: (ms) => advanceClock({ clock, work, database }, ms),
    close() {
      closed ??= (async () => {
        await work.close();
        await committer.idle();
        await tailer.close();
      })();
      return closed;
    },
  };
  onTestFinished(async () => {
    await core.close();
    // A task that is left over would be run by the next test's instance.
    await database.sql.deleteFrom('task').where('account_id', '=', tenant.accountId).execute();
  });
  return core;
}

export async function openAccount(
  database: Database,
  settings: CoreOptions['account'] = {},
): Promise<Tenant> {
  const accountId = `acc_${objectId()}`;
  await insertAccount(
    database.sql,
    { id: accountId, name: 'Padaria da Ana', ...DEFAULT_SETTINGS, ...settings },
    new Date('2026-01-01T00:00:00.000Z'),
  );
  return { accountId, environment: 'live' };
}

/** Opens an account in a database of any older version, which lacks the columns that came later. */
export async function openOlderAccount(db: Sql): Promise<Tenant> {
  const accountId = `acc_${objectId()}`;
  await sql`
    insert into account (id, name, card_payments_enabled, card_release_days, created_at)
    values (${accountId}, 'Padaria da Ana', true, 14, '2026-01-01')`.execute(db);
  return { accountId, environment: 'live' };
}

/** Starts two servers on one PostgreSQL and one clock, for one tenant. They are closed at the end of the test. */
export async function startTwoCores(options: { announces?: boolean } = {}): Promise<[Core, Core]> {
  const databaseUrl = await takePostgresDatabase();
  const clock = createManualClock();
  const [first, second] = await Promise.all([0, 1].map(() => connectTo(databaseUrl, clock)));
  onTestFinished(async () => {
    await Promise.all([first!.close(), second!.close()]);
  });
  const one = await startCore({ database: first!, clock, ...options });
  const two = await startCore({ database: second!, clock, tenant: one.tenant, ...options });
  return [one, two];
}

/** Creates the smallest kind of event. Its resource need not exist. */
export function revocationOf(resourceId: string) {
  return {
    kind: 'credential.revoked',
    resource: 'credential',
    resourceId,
    previousStatus: null,
    snapshot: {},
  } as const;
}

/** In `test:all`, compares every webhook with the description of its event. */
function compared(send: Send, onError: (error: Error) => void): Send {
  if (!runsAll()) return send;
  return async (message) => {
    const { deliveryProblems } = await import('./webhook-schemas.ts');
    for (const problem of deliveryProblems(message.body)) onError(new Error(problem));
    return send(message);
  };
}
