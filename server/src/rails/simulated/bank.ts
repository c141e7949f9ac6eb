import { createHash } from 'node:crypto';
import type { ExpressionBuilder, Selectable } from 'kysely';
import { type Clock, plusMs } from '../../kernel/clock.ts';
import { readableCode } from '../../kernel/ids.ts';
import { type Cents, LITOSHI_PER_LTC } from '../../kernel/money.ts';
import { METHODS, PAYOUT_METHODS } from '../../kernel/payout-methods/registry.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { isStorable } from '../../kernel/text.ts';
import type { Database } from '../../state/db/database.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import type { Tables } from '../../state/db/tables.ts';
import type { Bank, Transfer, TransferReceipt, TransferStatus } from '../bank.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

type Behaviour =
  | { kind: 'deny'; reason: string }
  | { kind: 'refuse'; reason: string }
  | { kind: 'delay'; afterMs: number }
  | { kind: 'verify'; afterMs: number };

const DENY: Behaviour = { kind: 'deny', reason: 'O banco de destino recusou a transferência' };
const REFUSE: Behaviour = { kind: 'refuse', reason: 'Destino bloqueado pela análise de segurança' };
const DELAY: Behaviour = { kind: 'delay', afterMs: 10 * MINUTE_MS };
const VERIFY: Behaviour = { kind: 'verify', afterMs: 30 * SECOND_MS };

/** Destinations with a special behavior for a live key. Every other destination simply receives. */
export const MAGIC_DESTINATIONS: Readonly<Record<string, Behaviour>> = {
  'nega@psa.example': DENY,
  'negado@psa.example': DENY,
  'recusa@psa.example': REFUSE,
  'demora@psa.example': DELAY,
  'verifica@psa.example': VERIFY,
  ltc1qt6cs9wr2kmrvmchxmdxngrnzj9a6fvawwtxyh3: DENY,
  ltc1q6vpftd5at0tucj4ruq4ppku9jfkk2ckeh2gjea: DELAY,
  TJbta1F5Qigik4ZrFsoGXmRPgkudGtsPaL: DENY,
  TVCvg8adLK6hGQH5WMw2vu4DFvbKkZeDpg: DELAY,
};

/** The price of one LTC: R$ 612,34. */
const LTC_PRICE_CENTS = 61_234n;
const ONE_LTC = BigInt(LITOSHI_PER_LTC);
/** The litoshi of all LTC that will ever exist, which no balance reaches. */
const ALL_LITOSHI = 84_000_000n * ONE_LTC;

/** A transfer in the bank's books. */
export interface BookedTransfer extends Transfer {
  receivedAt: Date;
  state: TransferStatus;
}

/**
 * The simulator's controls of the books. Each returns whether it changed anything: a transfer that has ended does not
 * change. The caller then has the slice that sent the transfer look it up.
 */
export interface SimulatedBank extends Bank {
  /** Completes a transfer now. */
  settle(id: string): Promise<boolean>;
  /**
   * The simulator's controls of the books. Each returns whether it changed anything: a transfer that has
   * ended does not change. The caller then makes the slice that sent the transfer look it up.
   */
  deny(id: string, reason: string): Promise<boolean>;
  /**
   * Postpones the end of a transfer to `until`, with the same outcome. False if the transfer ends then or
   * later already.
   */
  delay(id: string, until: Date): Promise<boolean>;
  /** Sends a completed transfer by PIX back now; never in the sandbox. */
  sendBack(id: string): Promise<boolean>;
  /** Whether a tenant has sent a transfer. */
  has(tenant: Tenant, id: string): Promise<boolean>;
  /**
   * Lists transfers, newest first, with their destinations in full: all of them, the unfinished ones of a
   * tenant, or those of a tenant that can be sent back.
   */
  list(page?: { limit?: number; unfinishedOf?: Tenant; returnableOf?: Tenant }): Promise<BookedTransfer[]>;
}

/**
 * A bank that moves no money. Its books are a table of its own, written before it answers: they survive a
 * crash of this server, as a real bank's would. The outcome of a transfer depends on its destination, and
 * comes at a time of the clock.
 */
export function createSimulatedBank({
  database,
  clock,
}: {
  database: Database;
  clock: Clock;
}): SimulatedBank {
  async function book(transfer: Transfer): Promise<Row> {
    await database.sql
      .insertInto('simulated_transfer')
      .values(newRow(transfer, clock.now()))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
    return database.sql
      .selectFrom('simulated_transfer')
      .selectAll()
      .where('id', '=', transfer.id)
      .executeTakeFirstOrThrow();
  }

  function updateUnfinished(id: string) {
    return database.sql
      .updateTable('simulated_transfer')
      .where('id', '=', id)
      .where('outcome', '!=', 'refuse')
      .where('settles_at', '>', clock.now());
  }

  return {
    async quoteLitoshi(amountCents: Cents) {
      // Rounded up to a whole litoshi, so that the receiver never gets less than the amount is worth.
      const litoshi = (BigInt(amountCents) * ONE_LTC + LTC_PRICE_CENTS - 1n) / LTC_PRICE_CENTS;
      return Number(litoshi < ALL_LITOSHI ? litoshi : ALL_LITOSHI);
    },

    send: async (transfer) => statusOf(await book(transfer), clock.now()),

    async settle(id) {
      const changes = {
        outcome: 'complete' as const,
        reason: null,
        held_until: null,
        settles_at: clock.now(),
      };
      return isChanged(await updateUnfinished(id).set(changes).executeTakeFirstOrThrow());
    },
    async deny(id, reason) {
      const changes = { outcome: 'deny' as const, reason, held_until: null, settles_at: clock.now() };
      return isChanged(
        await updateUnfinished(id).where('environment', '=', 'live').set(changes).executeTakeFirstOrThrow(),
      );
    },
    async delay(id, until) {
      return isChanged(
        await updateUnfinished(id)
          .where('settles_at', '<', until)
          .set({ settles_at: until })
          .executeTakeFirstOrThrow(),
      );
    },

    async sendBack(id) {
      return isChanged(
        await database.sql
          .updateTable('simulated_transfer')
          .set({ outcome: 'return' })
          .where('id', '=', id)
          .where(isReturnable(clock.now()))
          .executeTakeFirstOrThrow(),
      );
    },

    async has(tenant, id) {
      // A text that Postgres rejects is in no row.
      if (!isStorable(id)) return false;
      const row = await ofTenant(database.sql, 'simulated_transfer', tenant)
        .select('id')
        .where('id', '=', id)
        .executeTakeFirst();
      return row !== undefined;
    },
    async list({ limit = 100, unfinishedOf, returnableOf } = {}) {
      const now = clock.now();
      const transfers = unfinishedOf
        ? ofTenant(database.sql, 'simulated_transfer', unfinishedOf)
            .where('outcome', '!=', 'refuse')
            .where('settles_at', '>', now)
        : returnableOf
          ? ofTenant(database.sql, 'simulated_transfer', returnableOf).where(isReturnable(now))
          : database.sql.selectFrom('simulated_transfer');
      const rows = await transfers.selectAll().orderBy('number', 'desc').limit(limit).execute();
      return rows.map((row) => ({
        id: row.id,
        tenant: tenantOf(row),
        method: row.method,
        destination: row.destination,
        amountCents: row.amount_cents,
        litoshi: row.litoshi,
        receivedAt: row.received_at,
        state: statusOf(row, now),
      }));
    },
  };
}

type Row = Selectable<Tables['simulated_transfer']>;

const RETURNABLE_METHODS = PAYOUT_METHODS.filter((method) => METHODS[method].rail.comesBack);

/** The condition of a transfer that can be sent back. */
function isReturnable(now: Date) {
  return ({ and, eb }: ExpressionBuilder<Tables, 'simulated_transfer'>) =>
    and([
      eb('outcome', '=', 'complete'),
      eb('environment', '=', 'live'),
      eb('settles_at', '<=', now),
      eb('method', 'in', RETURNABLE_METHODS),
    ]);
}

function isChanged({ numUpdatedRows }: { numUpdatedRows: bigint }): boolean {
  return numUpdatedRows > 0n;
}

function tenantOf(row: Row): Tenant {
  return { accountId: row.account_id, environment: row.environment };
}

/** Creates the row of a transfer, whose end follows from its destination unless a control changes it. */
function newRow({ id, tenant, method, destination, amountCents, litoshi }: Transfer, now: Date) {
  const behaviour = MAGIC_DESTINATIONS[destination];
  const fails = tenant.environment === 'live' && (behaviour?.kind === 'deny' || behaviour?.kind === 'refuse');
  const heldUntil = behaviour?.kind === 'verify' ? plusMs(now, behaviour.afterMs) : null;
  const afterMs = behaviour?.kind === 'delay' ? behaviour.afterMs : METHODS[method].rail.simulatedMs;
  return {
    id,
    account_id: tenant.accountId,
    environment: tenant.environment,
    method,
    destination,
    amount_cents: amountCents,
    litoshi,
    received_at: now,
    held_until: heldUntil,
    settles_at: plusMs(heldUntil ?? now, afterMs),
    outcome: fails ? (behaviour.kind as 'deny' | 'refuse') : ('complete' as const),
    reason: fails ? behaviour.reason : null,
    end_to_end_id: METHODS[method].rail.namesRecipient ? endToEndId(now) : null,
  };
}

function statusOf(row: Row, now: Date): TransferStatus {
  if (row.outcome === 'refuse') return { status: 'refused', reason: row.reason! };
  if (row.held_until && row.held_until > now) return { status: 'in_verification', until: row.held_until };
  if (row.settles_at > now)
    return {
      status: METHODS[row.method].leavesUnconfirmed ? 'sent' : 'queued',
      until: row.settles_at,
    };
  if (row.outcome === 'deny') return { status: 'denied', reason: row.reason! };
  return { status: row.outcome === 'return' ? 'returned' : 'completed', receipt: receiptOf(row) };
}

// ── Receipts ────────────────────────────────────────────────────────────────────────────────────

/** An ISPB that belongs to no institution. */
const OWN_ISPB = '99999999';

/**
 * Generates an end-to-end id in the form that the Banco Central prescribes: E, the sender's ISPB, the minute
 * in UTC, and 11 characters of the transfer; 32 in all.
 */
export function endToEndId(now: Date, own = readableCode(11)): string {
  const minute = now.toISOString().replace(/\D/g, '').slice(0, 12);
  return `E${OWN_ISPB}${minute}${own}`;
}

const RECIPIENTS = ['Ana Souza', 'Bruno Lima', 'Carla Dias', 'Diego Alves', 'Elisa Rocha', 'Fábio Nunes'];
const BANKS = ['Banco Ipê S.A.', 'Banco Jatobá S.A.', 'Cooperativa Araucária', 'Pagamentos Jequitibá S.A.'];

/** Derives the receipt: a destination always has the same recipient at the same bank. */
function receiptOf({ method, destination, end_to_end_id: endToEndId }: Row): TransferReceipt {
  if (!METHODS[method].rail.namesRecipient)
    return { endToEndId: null, recipientName: null, recipientBankName: null };
  const [person = 0, bank = 0] = createHash('sha256').update(destination).digest();
  return {
    endToEndId,
    recipientName: RECIPIENTS[person % RECIPIENTS.length]!,
    recipientBankName: BANKS[bank % BANKS.length]!,
  };
}
