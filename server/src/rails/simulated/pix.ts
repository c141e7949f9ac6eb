import { sql as raw, type Selectable } from 'kysely';
import { brCode, parseBrCode } from '../../kernel/br-code.ts';
import { type Clock, plusMs } from '../../kernel/clock.ts';
import { deterministicId } from '../../kernel/ids.ts';
import type { Cents } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Database, Sql } from '../../state/db/database.ts';
import type { Tables } from '../../state/db/tables.ts';
import type { ClaimRail } from '../claims.ts';
import type { PixCode, PixCredit, PixRail } from '../pix.ts';
import { endToEndId } from './bank.ts';
import { createSimulatedRecurrences, type Notify, type SimulatedRecurrences } from './recurrences.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/**
 * A credit that the simulated payer sends without a request: some time after the registration of its code, or
 * after the expiry.
 */
interface OwnCredit {
  afterMs: number;
  behindExpiry?: true;
  /** Cents in addition to the requested amount. */
  moreCents?: Cents;
}

/** The simulated payers that act without a request, by the e-mail address of the customer. */
export const MAGIC_PAYERS: Readonly<
  Record<
    string,
    {
      credits?: readonly OwnCredit[];
      refusal?: string;
      registersAfterMs?: number;
      refusesReturns?: true;
      /** Each return is completed after a while. */
      delaysReturns?: true;
      claims?: 'undecided' | 'won' | 'lost';
      /** The attempts of each cycle of a subscription that its bank refuses. */
      refusedAttempts?: 'first' | 'all';
    }
  >
> = {
  'paga@psa.example': { credits: [{ afterMs: 3 * SECOND_MS }] },
  'paga-tarde@psa.example': { credits: [{ afterMs: MINUTE_MS, behindExpiry: true }] },
  'paga-duas@psa.example': { credits: [{ afterMs: 3 * SECOND_MS }, { afterMs: 4 * SECOND_MS }] },
  'paga-outro@psa.example': { credits: [{ afterMs: 3 * SECOND_MS, moreCents: 1 }] },
  'sem-codigo@psa.example': { refusal: 'O banco recusou a cobrança' },
  'demora-codigo@psa.example': { registersAfterMs: 15 * SECOND_MS },
  'devolve-falha@psa.example': { refusesReturns: true },
  'devolve-depois@psa.example': { delaysReturns: true },
  'contesta@psa.example': { claims: 'undecided' },
  'contesta-ganha@psa.example': { claims: 'won' },
  'contesta-perde@psa.example': { claims: 'lost' },
  'nega@psa.example': { refusedAttempts: 'all' },
  'nega-uma@psa.example': { refusedAttempts: 'first' },
};

/** Milliseconds until a return of a payer with late returns is completed. */
const LATE_RETURN_MS = 5 * SECOND_MS;

/** The host of the codes, under a top-level domain that no resolver has: such a code moves no real money. */
const CODE_HOST = 'pix.psa.invalid/v2/';
const CITY = 'SAO PAULO';

/** A payer's order to its bank. */
export interface PixOrder {
  txid: string;
  /** The amount to pay; by default that of the code. */
  amountCents?: Cents | undefined;
  /** The id of the order's PIX: an order that is repeated with its id has one effect. */
  endToEndId?: string | undefined;
  /** A name of the order. If no `endToEndId` is given, it is derived from this name. */
  key?: string | undefined;
}

/** A payer's PIX, with the code that it pays and the account of the code. */
export interface SentPix extends PixCredit {
  txid: string;
  tenant: Tenant;
}

/** The claims of simulated payers who dispute their payments. */
export interface SimulatedClaims {
  /** The time after a payment at which it is claimed back. */
  afterMs: number;
  /** The time from a claim to the decision of the banks. */
  decidedAfterMs: number;
  /** Called inside the transaction that records the payment. */
  notify: (sql: Sql, tenant: Tenant, claim: { txid: string; endToEndId: string; at: Date }) => Promise<void>;
}

/** The simulated bank, with the payer's side of it. */
export interface SimulatedPix extends PixRail, ClaimRail, SimulatedRecurrences {
  /**
   * Sends the money of an order. Returns the PIX, also if it was sent before, maybe for another code; null if
   * the code does not exist.
   */
  pay(order: PixOrder): Promise<SentPix | null>;
  /**
   * Makes the bank refuse, or accept again, each later return of a code's money. False if the code does not
   * exist.
   */
  setReturns(txid: string, returns: 'refused' | 'accepted'): Promise<boolean>;
  /** Finds the codes among these whose returns are refused. */
  refusingReturns(txids: readonly string[]): Promise<Set<string>>;
}

/** Reads the txid from a code of this bank; null for another bank's code, and for any other text. */
export function txidOfCode(text: string): string | null {
  const url = parseBrCode(text)?.url;
  return url?.startsWith(CODE_HOST) ? url.slice(CODE_HOST.length) : null;
}

/**
 * A bank that moves no money. Its books are tables of its own, written before it answers: they survive a
 * crash of this server, as a real bank's would. `notify` is called inside the transaction that records a
 * credit, so no credit lacks its notification.
 */
export function createSimulatedPix({
  database,
  clock,
  notify,
  claims,
}: {
  database: Database;
  clock: Clock;
  claims: SimulatedClaims;
  notify: Notify;
}): SimulatedPix {
  const recurrences = createSimulatedRecurrences({ database, clock, notify });

  async function book(sql: Sql, code: CodeRow, credit: PixCredit): Promise<SentPix> {
    const { numInsertedOrUpdatedRows: inserted } = await sql
      .insertInto('simulated_pix_credit')
      .values({
        end_to_end_id: credit.endToEndId,
        txid: code.txid,
        amount_cents: credit.amountCents,
        arrives_at: credit.at,
      })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    if (inserted !== 0n) {
      const tenant = { accountId: code.account_id, environment: code.environment };
      await notify(sql, tenant, { txid: code.txid, endToEndId: credit.endToEndId, at: credit.at });
      // The balance of the sandbox consists of its test payments, so nothing of it can be held.
      if (code.claims !== null && code.environment === 'live')
        await claims.notify(sql, tenant, {
          txid: code.txid,
          ...credit,
          at: plusMs(credit.at, claims.afterMs),
        });
    }
    const row = await sql
      .selectFrom('simulated_pix_credit')
      .innerJoin('simulated_pix_code', 'simulated_pix_code.txid', 'simulated_pix_credit.txid')
      .selectAll('simulated_pix_credit')
      .select(['account_id', 'environment'])
      .where('end_to_end_id', '=', credit.endToEndId)
      .executeTakeFirstOrThrow();
    return {
      txid: row.txid,
      tenant: { accountId: row.account_id, environment: row.environment },
      endToEndId: row.end_to_end_id,
      amountCents: row.amount_cents,
      at: row.arrives_at,
    };
  }

  /** Records a code once, with the credits that its payer sends without a request. */
  async function bookCode({
    tenant,
    txid,
    amountCents,
    expiresAt,
    merchantName,
    payer,
    recurrence,
  }: PixCode): Promise<void> {
    const now = clock.now();
    const behaviour = MAGIC_PAYERS[payer?.email ?? ''] ?? {};
    await database.transaction(async (sql) => {
      const code = await sql
        .insertInto('simulated_pix_code')
        .values({
          txid,
          account_id: tenant.accountId,
          environment: tenant.environment,
          amount_cents: amountCents,
          br_code: behaviour.refusal
            ? null
            : brCode({ url: `${CODE_HOST}${txid}`, amountCents, merchantName, merchantCity: CITY }),
          refusal: behaviour.refusal ?? null,
          registered_at: plusMs(now, behaviour.registersAfterMs ?? 0),
          expires_at: expiresAt,
          refuses_returns: behaviour.refusesReturns ?? false,
          delays_returns: behaviour.delaysReturns ?? false,
          claims: behaviour.claims ?? null,
          is_recurrence: recurrence !== null,
          refused_attempts: behaviour.refusedAttempts ?? null,
        })
        .onConflict((conflict) => conflict.doNothing())
        .returningAll()
        .executeTakeFirst();
      for (const { afterMs, behindExpiry, moreCents = 0 } of (code && behaviour.credits) ?? []) {
        const at = plusMs(behindExpiry ? expiresAt : now, afterMs);
        await book(sql, code!, { endToEndId: endToEndId(at), amountCents: amountCents + moreCents, at });
      }
    });
  }

  function selectCode(sql: Sql, txid: string): Promise<CodeRow | undefined> {
    return sql.selectFrom('simulated_pix_code').selectAll().where('txid', '=', txid).executeTakeFirst();
  }

  /** Selects the credits of a code that had arrived by an instant, oldest first. */
  async function selectCredits(txid: string, by: Date): Promise<PixCredit[]> {
    const rows = await database.sql
      .selectFrom('simulated_pix_credit')
      .selectAll('simulated_pix_credit')
      .select(
        raw<string[]>`array(
          select id from simulated_pix_return
          where end_to_end_id = simulated_pix_credit.end_to_end_id and status = 'completed'
        )`.as('return_ids'),
      )
      .where('txid', '=', txid)
      .where('debit_id', 'is', null)
      .where('arrives_at', '<=', by)
      .orderBy('arrives_at')
      .orderBy('end_to_end_id')
      .execute();
    return rows.map((row) => ({
      endToEndId: row.end_to_end_id,
      amountCents: row.amount_cents,
      at: row.arrives_at,
      returnIds: row.return_ids,
    }));
  }

  return {
    ...recurrences,

    async register(code) {
      await bookCode(code);
      const row = (await selectCode(database.sql, code.txid))!;
      if (row.br_code === null) return { status: 'refused', reason: row.refusal! };
      if (row.registered_at > clock.now()) return { status: 'pending' };
      return { status: 'registered', brCode: row.br_code };
    },

    creditsOf: (txid) => selectCredits(txid, clock.now()),

    async claimsOf(txid) {
      const code = await selectCode(database.sql, txid);
      if (!code?.claims || code.environment === 'sandbox') return [];
      const { claims: decision } = code;
      const now = clock.now();
      const credits = await selectCredits(txid, plusMs(now, -claims.afterMs));
      return credits.map((credit) => {
        const decidesAt = plusMs(credit.at, claims.afterMs + claims.decidedAfterMs);
        return {
          claimId: `MED${credit.endToEndId}`,
          endToEndId: credit.endToEndId,
          amountCents: credit.amountCents,
          reason: 'fraud',
          outcome: decision === 'undecided' || decidesAt > now ? null : decision,
          decidesAt: decision === 'undecided' ? null : decidesAt,
        };
      });
    },

    async refund({ id, railChargeId, amountCents }) {
      return database.transaction(async (sql) => {
        const credit = await sql
          .selectFrom('simulated_pix_credit')
          .innerJoin('simulated_pix_code', 'simulated_pix_code.txid', 'simulated_pix_credit.txid')
          .select(['simulated_pix_credit.amount_cents', 'refuses_returns', 'delays_returns'])
          .where('end_to_end_id', '=', railChargeId)
          .forUpdate('simulated_pix_credit')
          .executeTakeFirstOrThrow();
        const returns = await sql
          .selectFrom('simulated_pix_return')
          .selectAll()
          .where('end_to_end_id', '=', railChargeId)
          .execute();
        const known = returns.find((each) => each.id === id);
        // A return under way counts as completed: its money has left already.
        const returned = returns.reduce(
          (sum, each) => sum + (each.status === 'completed' ? each.amount_cents : 0),
          0,
        );
        const isRefused = credit.refuses_returns || returned + amountCents > credit.amount_cents;
        const now = clock.now();
        const settlesAt = credit.delays_returns && !isRefused ? plusMs(now, LATE_RETURN_MS) : null;
        const row = known ?? {
          id,
          end_to_end_id: railChargeId,
          amount_cents: amountCents,
          return_end_to_end_id: `D${endToEndId(settlesAt ?? now).slice(1)}`,
          status: isRefused ? ('failed' as const) : ('completed' as const),
          settles_at: settlesAt,
        };
        if (!known) await sql.insertInto('simulated_pix_return').values(row).execute();
        if (row.status === 'failed')
          return { status: 'failed', reason: 'O banco do pagador não aceitou o dinheiro de volta' };
        return row.settles_at !== null && row.settles_at > now
          ? { status: 'pending', settlesAt: row.settles_at }
          : { status: 'completed', endToEndId: row.return_end_to_end_id };
      });
    },

    async pay({ txid, amountCents, endToEndId: given, key }) {
      return database.transaction(async (sql) => {
        const code = await selectCode(sql, txid);
        if (!code || code.br_code === null) return null;
        return book(sql, code, {
          endToEndId: given ?? (key === undefined ? endToEndId(clock.now()) : idOfOrder(code, key)),
          amountCents: amountCents ?? code.amount_cents,
          at: clock.now(),
        });
      });
    },

    async setReturns(txid, returns) {
      const { numUpdatedRows } = await database.sql
        .updateTable('simulated_pix_code')
        .set({ refuses_returns: returns === 'refused' })
        .where('txid', '=', txid)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async refusingReturns(txids) {
      if (txids.length === 0) return new Set();
      const rows = await database.sql
        .selectFrom('simulated_pix_code')
        .select('txid')
        .where('txid', 'in', txids)
        .where('refuses_returns', '=', true)
        .execute();
      return new Set(rows.map(({ txid }) => txid));
    },
  };
}

/** The end-to-end id of a named order: the same for each repetition of it. */
function idOfOrder({ txid, registered_at }: CodeRow, key: string): string {
  return endToEndId(registered_at, deterministicId(11, 'PixOrder', txid, key).toUpperCase());
}

type CodeRow = Selectable<Tables['simulated_pix_code']>;
