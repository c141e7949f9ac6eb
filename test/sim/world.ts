import { sql as raw } from 'kysely';
import { DEFAULT_SETTINGS } from '../../server/src/access/model.ts';
import { insertAccount, saveTokens } from '../../server/src/access/store.ts';
import { plusMs } from '../../server/src/kernel/clock.ts';
import { objectId } from '../../server/src/kernel/ids.ts';
import type { Environment, Tenant } from '../../server/src/kernel/tenant.ts';
import { notifyOfCredit, notifyOfOutputs } from '../../server/src/programs/modes/families.ts';
import type { Collection, Command, Committer, Writes } from '../../server/src/state/commit/commit.ts';
import { createCommitter } from '../../server/src/state/commit/committer.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import type { TenantKey } from '../../server/src/state/db/each-tenant.ts';
import type { Task } from '../../server/src/state/work/store.ts';
import { endpointTable } from '../../server/src/webhooks/endpoint-store.ts';
import { webhookOutbox } from '../../server/src/webhooks/outbox.ts';
import { OPTIONAL_WEBHOOK_EVENTS } from '../../server/src/webhooks/sent-events.ts';
import type { Random } from '../faults/random.ts';
import { createManualClock, type ManualClock } from '../support/clock.ts';
import { type Slices, wireSlices } from '../support/slices.ts';
import { createGate, type Faults, faultyDatabase, type Gate } from './gate.ts';
import { createRails, type Rails } from './rails.ts';
import type { Violation } from './violation.ts';

/** Changes a decision's writes, as a fault would, to show that a checker finds it. */
export type Tamper = (writes: Writes) => Writes;

/** One account with its services and its surroundings, and with a clock and a gate of its own. */
export interface World {
  readonly slices: Omit<Slices, 'handlers'>;
  readonly rails: Rails;
  readonly clock: ManualClock;
  readonly gate: Gate;
  readonly faults: Faults & { over(): void };
  readonly live: Tenant;
  readonly sandbox: Tenant;
  /** The checkout tokens: one for a single use, one for many. */
  readonly tokens: readonly { id: string; reusable: boolean; maxCents: number }[];
  /** Whether its events are sent to a URL. */
  readonly isAnnounced: boolean;
  /** The database without the gate, for audits between two steps. */
  readonly database: Database;
  /** Notifies the service of a credit, as the bank does: at some instant, and at least once. */
  notify(tenant: Tenant, notice: Parameters<typeof notifyOfCredit>[2]): Promise<void>;
  /** Notifies the service of a change at an address, as the network does. */
  notifyOfLtc(tenant: Tenant, notice: Parameters<typeof notifyOfOutputs>[2]): Promise<void>;
  /** Begins all due work at the same time. */
  work(): Promise<void>;
  /** The first instants at which waiting tasks fall due. */
  dueNext(): Promise<Date[]>;
  /** The instant at which the first waiting task falls due; null without one. */
  dueFirst(): Promise<Date | null>;
  /** Whether all due work has ended and is recorded. */
  isIdle(): boolean;
  /** The keys of the records that decisions have read. */
  readonly loaded: ReadonlyMap<Collection<unknown>, readonly TenantKey[]>;
}

const SETTINGS = { ...DEFAULT_SETTINGS, cardReleaseDays: 1, pixFeeCents: 99 };
/** The time after which a failed task runs again. */
const AGAIN_MS = 5_000;
const TOKEN_CENTS = { min: 100, max: 5_000_000 };

export async function openWorld({
  database: real,
  random,
  count,
  broken,
  tamper,
  strikes: chosen,
  announced = random.below(3) === 0,
}: {
  database: Database;
  random: Random;
  count: (what: string) => void;
  broken: (violation: Violation) => void;
  tamper?: Tamper | undefined;
  /** The faults that happen, in place of the seed's. */
  strikes?: ((name: string) => boolean) | undefined;
  /** Whether its events are sent to a URL, in place of the seed's choice. */
  announced?: boolean | undefined;
}): Promise<World> {
  const clock = createManualClock();
  const gate = createGate(random);
  let faulty = true;
  const faults = {
    strikes(name: string, oneIn: number) {
      const strikes = (chosen ? chosen(name) : random.below(oneIn) === 0) && faulty;
      if (strikes) count(`fault: ${name}`);
      return strikes;
    },
    over() {
      faulty = false;
    },
  };

  const accountId = `acc_${objectId()}`;
  const live: Tenant = { accountId, environment: 'live' };
  const sandbox: Tenant = { accountId, environment: 'sandbox' };
  await insertAccount(real.sql, { id: accountId, name: 'Padaria da Ana', ...SETTINGS }, clock.now());
  const tokens = [];
  for (const reusable of [false, true]) {
    const id = `tok_${objectId()}`;
    const grant = {};
    const row = { id, kind: 'checkout' as const, accountId, environment: 'live' as const, grant };
    const life = { mintedBy: null, expiresAt: null, revokedAt: null };
    const rest = { ...life, allowedOrigins: [], trustedDocumentsOnly: false };
    await saveTokens(real.sql, [{ ...row, ...rest, createdAt: clock.now(), secretHash: id }]);
    tokens.push({ id, reusable, maxCents: TOKEN_CENTS.max });
  }

  const database = faultyDatabase(real, { gate, faults, random });
  const committer = createCommitter({
    database,
    clock,
    outbox: webhookOutbox,
    // Workers are not woken: due tasks are looked up.
    onCommit: () => undefined,
  });
  const loaded = new Map<Collection<unknown>, TenantKey[]>();
  const rails = createRails({ name: accountId, clock, gate, faults, random, broken });
  const { handlers, ...slices } = wireSlices({
    database,
    clock,
    committer: recording(tamper ? tampering(committer, tamper) : committer, loaded),
    ...rails,
    wrapPix: () => rails.pix,
    wrapLitecoin: () => rails.litecoin,
    privateAddresses: false,
    onFault: () => count('fault reported in the background'),
  });

  if (announced)
    await real.sql
      .insertInto('stream')
      .values({ account_id: accountId, environment: 'live' })
      .execute()
      .then(() =>
        endpointTable.save(real.sql, live, [
          {
            url: 'https://hooks.example.com/0',
            enabled: true,
            secret: `whsec_${'A'.repeat(32)}`,
            secretShown: true,
            previousSecrets: [],
            optionalEvents: OPTIONAL_WEBHOOK_EVENTS,
            failingSince: null,
            further: [],
          },
        ]),
      );

  const underWay = new Map<string, Promise<void>>();
  let ended: { task: DueTask; failed: boolean }[] = [];

  /** Removes ended tasks or schedules them again, and reads the due ones. */
  async function look(): Promise<DueTask[]> {
    const settled = ended;
    ended = [];
    const columns = raw`
      unnest(${settled.map(({ task }) => task.kind)}::text[], ${settled.map(({ task }) => task.environment)}::text[],
        ${settled.map(({ task }) => task.key)}::text[], ${settled.map(({ task }) => task.revision)}::integer[],
        ${settled.map(({ task }) => task.row)}::text[],
        ${settled.map(({ failed }) => failed)}::boolean[]) ended (kind, environment, key, revision, row, failed)`;
    const same = raw`task.account_id = ${accountId} and task.kind = ended.kind and task.key = ended.key
      and task.environment = ended.environment and task.revision = ended.revision and task.xmin::text = ended.row`;
    if (settled.length > 0) {
      await raw`delete from task using ${columns} where ${same} and not ended.failed`.execute(real.sql);
      if (settled.some(({ failed }) => failed))
        await raw`update task set due_at = ${plusMs(clock.now(), AGAIN_MS)} from ${columns}
          where ${same} and ended.failed`.execute(real.sql);
    }
    const { rows } = await raw<DueTask>`
      select kind, environment, key, revision, task.xmin::text as row, coalesce(
        (select number from card_payment where starts_with(kind, 'card_payment.') and order_code = key),
        (select number from refund where starts_with(kind, 'refund.') and refund_id = key),
        (select number from payment where starts_with(kind, 'pix.') and payment_id in (key, 'psa_' || split_part(key, ' ', 1))),
        (select number from payment where starts_with(kind, 'ltc.') and payment_id = split_part(key, ' ', 1)),
        (select number from payment join pix_credit c using (payment_id)
          where kind = 'pix.return' and c.account_id = ${accountId} and c.end_to_end_id = key),
        (select number from dispute where starts_with(kind, 'dispute.') and id = key),
        -- Behind every payment, whose numbers are others.
        (select 1000000000 + number from pix_subscription where starts_with(kind, 'pix.') and subscription_id in (key, 'psa_sub_' || split_part(key, ' ', 1))),
        (select 1000000000 + number from pix_subscription where starts_with(kind, 'subscription.') and subscription_id = split_part(key, ' ', 1)),
        (select 1000000000 + s.number from pix_subscription s join pix_credit c on c.payment_id = s.subscription_id
          where kind = 'pix.return' and c.account_id = ${accountId} and c.end_to_end_id = key),
        (select number from payout where starts_with(kind, 'payout.') and withdrawal_id = key),
        (select number from subaccount_payout where starts_with(kind, 'subaccount_payout.') and id = key),
        (select number from webhook_delivery where starts_with(kind, 'webhook.') and webhook_id = key)
      ) as number, coalesce(
        (select number from charge where starts_with(task.kind, 'pix.')
          and charge_id in (key, 'psc_' || split_part(key, ' ', 1), 'psplit_' || split_part(key, ' ', 1))),
        (select number from charge join pix_credit c on c.payment_id = charge_id
          where task.kind = 'pix.return' and c.account_id = ${accountId} and c.end_to_end_id = key)
      ) as number_of_charge
      from task where account_id = ${accountId} and due_at <= ${clock.now()}
      -- The numbers of two tables have no order between them: other accounts draw from both.
      order by kind, number, number_of_charge, key
    `.execute(real.sql);
    return rows;
  }

  async function run(name: string, task: DueTask): Promise<void> {
    const handler = handlers[task.kind]!;
    const whole: Task = { ...task, accountId, attempts: 1, outages: 0, group: '', lease: '' };
    const failed = await handler(whole).then(
      () => false,
      () => true,
    );
    underWay.delete(name);
    ended.push({ task, failed });
    count(`task: ${task.kind}${failed ? ' failed' : ''}`);
  }

  return {
    slices,
    rails,
    clock,
    gate,
    faults,
    live,
    sandbox,
    tokens,
    isAnnounced: announced,
    loaded,
    database: real,
    notifyOfLtc: (tenant, change) => gate.pass(() => notifyOfOutputs(real.sql, tenant, change)),
    notify: (tenant, credit) => gate.pass(() => notifyOfCredit(real.sql, tenant, credit)),
    async work() {
      const due = await gate.pass(look);
      // The first claimed task need not be the first to end.
      for (const task of shuffled(due, random)) {
        const name = `${task.environment} ${task.kind} ${task.key}`;
        // The lease ends early, so that two workers do the same task.
        const twice = faults.strikes('task: done by two at once', 40);
        if (underWay.has(name)) {
          if (twice) void run(`${name} again`, task);
          continue;
        }
        underWay.set(name, run(name, task));
        if (twice) underWay.set(`${name} again`, run(`${name} again`, task));
      }
    },
    dueNext: () =>
      gate.pass(async () => {
        const { rows } = await raw<{ at: Date }>`
          select distinct due_at as at from task where account_id = ${accountId} and due_at > ${clock.now()}
          order by due_at limit 6`.execute(real.sql);
        return rows.map(({ at }) => at);
      }),
    dueFirst: () =>
      gate.pass(async () => {
        const { rows } = await raw<{ at: Date | null }>`
          select min(due_at) as at from task where account_id = ${accountId}`.execute(real.sql);
        return rows[0]?.at ?? null;
      }),
    isIdle: () => underWay.size === 0 && ended.length === 0,
  };
}

interface DueTask {
  kind: string;
  environment: Environment;
  key: string;
  revision: number;
  /** The row of the task: of two workers on one task, the slower must not remove a newer task of the same name. */
  row: string;
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  return items.map(() => left.splice(random.below(left.length), 1)[0]!);
}

/** Records the key of each record that a command reads. */
function recording(committer: Committer, loaded: Map<Collection<unknown>, TenantKey[]>): Committer {
  return {
    ...committer,
    change: <Outcome>(command: Command<Outcome>) =>
      committer.change({
        ...command,
        read: (reader) =>
          command.read({
            load<Row>(collection: Collection<Row>, key: string) {
              const keys = loaded.get(collection as Collection<unknown>) ?? [];
              loaded.set(collection as Collection<unknown>, keys);
              keys.push({ tenant: command.tenant, key });
              return reader.load(collection, key);
            },
          }),
      }),
  };
}

function tampering(committer: Committer, tamper: Tamper): Committer {
  return {
    ...committer,
    change: <Outcome>(command: Command<Outcome>) =>
      committer.change({
        ...command,
        decide(state) {
          const { outcome, writes } = command.decide(state);
          return writes ? { outcome, writes: tamper(writes) } : { outcome };
        },
      }),
  };
}
