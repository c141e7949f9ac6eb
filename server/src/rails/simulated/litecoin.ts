import { createHash } from 'node:crypto';
import { bech32 } from '@scure/base';
import { sql as raw } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Database, Sql } from '../../state/db/database.ts';
import type { LitecoinRail, LtcOutput } from '../litecoin.ts';

/** A change of what the network sees for an address. */
export interface LtcLever {
  /** The transaction of the output, 64 hex digits; left out: a new output. */
  txid?: string | undefined;
  /** Litoshi of a new output. */
  litoshi: number;
  confirmations: number;
}

/** A payer's output, with the id and the account of its address. */
export interface SentLtc extends LtcOutput {
  id: string;
  tenant: Tenant;
}

/** The simulated network, with the payer's and the miners' side of it. */
export interface SimulatedLitecoin extends LitecoinRail {
  /** Finds the id and the account of an address; null if it is no address of this network. */
  find(address: string): Promise<{ id: string; tenant: Tenant } | null>;
  /**
   * Sends an output to an address, or sets the confirmations of an existing one. Null if it is no address of this
   * network, or if the output belongs to another address.
   */
  send(address: string, lever: LtcLever): Promise<SentLtc | null>;
  /**
   * Mines blocks after the outputs of an address, which adds as many confirmations to each. False if it has
   * no output.
   */
  mine(address: string, blocks: number): Promise<boolean>;
  /** Removes an output from the chain, as a reorganization does. False if the output does not exist. */
  reorganise(address: string, txid: string): Promise<boolean>;
}

/** The prefix of addresses on a private chain: no wallet of the main network sends to them. */
const PREFIX = 'rltc';

/**
 * A network that moves no money. Its books are tables of its own, written before it answers: they survive a
 * crash of this server. `notify` is called inside the transaction that changes an output, so no change lacks
 * its notification.
 */
export function createSimulatedLitecoin({
  database,
  clock,
  notify,
}: {
  database: Database;
  clock: Clock;
  notify: (sql: Sql, tenant: Tenant, change: { id: string; revision: number; at: Date }) => Promise<void>;
}): SimulatedLitecoin {
  function selectAddress(sql: Sql, column: 'id' | 'address', value: string) {
    return sql.selectFrom('simulated_ltc_address').selectAll().where(column, '=', value).executeTakeFirst();
  }

  /** Counts a change of an address, and notifies the service of it. */
  async function changed(sql: Sql, id: string, tenant: Tenant): Promise<void> {
    const { revision } = await sql
      .updateTable('simulated_ltc_address')
      .set({ revision: raw`revision + 1` })
      .where('id', '=', id)
      .returning('revision')
      .executeTakeFirstOrThrow();
    await notify(sql, tenant, { id, revision, at: clock.now() });
  }

  /** Locks an address for a change. */
  async function lock(sql: Sql, address: string) {
    const row = await sql
      .selectFrom('simulated_ltc_address')
      .selectAll()
      .where('address', '=', address)
      .forUpdate()
      .executeTakeFirst();
    return row && { id: row.id, tenant: { accountId: row.account_id, environment: row.environment } };
  }

  return {
    async addressFor({ id, tenant }) {
      await database.sql
        .insertInto('simulated_ltc_address')
        .values({
          id,
          account_id: tenant.accountId,
          environment: tenant.environment,
          address: addressOf(id),
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return { status: 'ready', address: addressOf(id) };
    },

    async reportOf(id) {
      // One statement, so that the report shows one moment.
      const rows = await database.sql
        .selectFrom('simulated_ltc_address as a')
        .leftJoin('simulated_ltc_output as o', 'o.id', 'a.id')
        .select(['a.revision', 'o.txid', 'o.vout', 'o.litoshi', 'o.seen_at', 'o.confirmations'])
        .where('a.id', '=', id)
        .orderBy('o.seen_at')
        .orderBy('o.txid')
        .execute();
      return {
        revision: rows[0]?.revision ?? 0,
        outputs: rows.flatMap((row) =>
          row.txid === null
            ? []
            : [
                {
                  txid: row.txid,
                  vout: row.vout!,
                  litoshi: row.litoshi!,
                  seenAt: row.seen_at!,
                  confirmations: row.confirmations!,
                },
              ],
        ),
      };
    },

    async find(address) {
      // Postgres rejects a text with U+0000, and no address has one.
      if (address.includes('\0')) return null;
      const row = await selectAddress(database.sql, 'address', address);
      return row ? { id: row.id, tenant: { accountId: row.account_id, environment: row.environment } } : null;
    },

    send: (address, { txid, litoshi, confirmations }) =>
      database.transaction(async (sql) => {
        const target = await lock(sql, address);
        if (!target) return null;
        const { id, tenant } = target;
        const sent = await sql
          .insertInto('simulated_ltc_output')
          .values({
            txid: txid ?? (await nextTxid(sql, id)),
            vout: 0,
            id,
            litoshi,
            confirmations,
            seen_at: clock.now(),
          })
          .onConflict((conflict) =>
            conflict
              .columns(['txid', 'vout'])
              .doUpdateSet({ confirmations })
              .where('simulated_ltc_output.id', '=', id),
          )
          .returningAll()
          .executeTakeFirst();
        if (!sent) return null;
        await changed(sql, id, tenant);
        const { seen_at: seenAt, vout } = sent;
        return { id, tenant, txid: sent.txid, vout, litoshi: sent.litoshi, seenAt, confirmations };
      }),

    mine: (address, blocks) =>
      database.transaction(async (sql) => {
        const target = await lock(sql, address);
        if (!target) return false;
        const { numUpdatedRows } = await sql
          .updateTable('simulated_ltc_output')
          .set({ confirmations: raw`confirmations + ${blocks}` })
          .where('id', '=', target.id)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await changed(sql, target.id, target.tenant);
        return true;
      }),

    reorganise: (address, txid) =>
      database.transaction(async (sql) => {
        const target = await lock(sql, address);
        if (!target) return false;
        const { numDeletedRows } = await sql
          .deleteFrom('simulated_ltc_output')
          .where('id', '=', target.id)
          .where('txid', '=', txid)
          .executeTakeFirst();
        if (numDeletedRows === 0n) return false;
        await changed(sql, target.id, target.tenant);
        return true;
      }),
  };
}

/** The address of an id: its witness program is a hash of the id, so nobody has its key. */
function addressOf(id: string): string {
  const program = createHash('sha256').update(`LTC address ${id}`).digest().subarray(0, 20);
  return bech32.encode(PREFIX, [0, ...bech32.toWords(program)]);
}

/** A txid that the address has never had, not even in outputs that a reorganization has removed. */
async function nextTxid(sql: Sql, id: string): Promise<string> {
  const { revision } = await sql
    .selectFrom('simulated_ltc_address')
    .select('revision')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return createHash('sha256').update(`LTC output ${id} ${revision}`).digest('hex');
}
