import { sql as raw } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import type { VerifiedLaw } from './model.ts';

/** The place in a tenant's books up to which no law was broken. */
export interface Checkpoint {
  /** The number of the newest row of the journal. */
  readonly number: number;
  /** The version of the newest event. */
  readonly version: number;
  /** The sum of the postings of each ledger account up to that row. */
  readonly sums: Readonly<Record<string, number>>;
  /** The number of the newest row of what was seen. */
  readonly sighting: number;
}

/** Reads the checkpoint of a tenant, if it is of these laws: others would say nothing of old rows. */
export async function selectCheckpoint(sql: Sql, tenant: Tenant, laws: string): Promise<Checkpoint | null> {
  const row = await sql
    .selectFrom('verify_checkpoint')
    .select(['number', 'version', 'sums', 'sighting'])
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment)
    .where('laws', '=', laws)
    .executeTakeFirst();
  return row ? { ...row, sums: row.sums as Record<string, number> } : null;
}

/** Keeps a checkpoint with the digest of its laws; null removes it, so that the next run looks at everything again. */
export async function saveCheckpoint(
  sql: Sql,
  { accountId, environment }: Tenant,
  checkpoint: (Checkpoint & { laws: string }) | null,
): Promise<void> {
  if (checkpoint === null) {
    await sql
      .deleteFrom('verify_checkpoint')
      .where('account_id', '=', accountId)
      .where('environment', '=', environment)
      .execute();
    return;
  }
  const { number, version, sums, sighting, laws } = checkpoint;
  await raw`
    insert into verify_checkpoint (account_id, environment, number, version, sums, sighting, laws)
    values (${accountId}, ${environment}, ${number}, ${version}, ${JSON.stringify(sums)}::jsonb, ${sighting}, ${laws})
    on conflict (account_id, environment)
    do update set number = excluded.number, version = excluded.version, sums = excluded.sums, sighting = excluded.sighting,
      laws = excluded.laws
  `.execute(sql);
}

/**
 * Keeps what was found of laws. After a look at what has changed alone they are as old as before: a law that is new was never decided,
 * and has a row only if it is broken.
 */
export async function saveVerified(
  sql: Sql,
  laws: readonly VerifiedLaw[],
  { isWhole }: { isWhole: boolean },
): Promise<void> {
  const known = new Set(isWhole ? [] : (await selectVerified(sql)).map(({ law }) => law));
  const kept = laws.filter(({ law, findings }) => isWhole || known.has(law) || findings > 0);
  if (kept.length === 0) return;
  await sql
    .insertInto('verified_law')
    .values(
      kept.map(({ law, findings, verifiedAt }) => ({
        ...{ law, findings, verified_at: isWhole ? verifiedAt : new Date(0) },
      })),
    )
    .onConflict((conflict) =>
      conflict.column('law').doUpdateSet({
        findings: raw<number>`excluded.findings`,
        ...(isWhole && { verified_at: raw<Date>`excluded.verified_at` }),
      }),
    )
    .execute();
}

export async function selectVerified(sql: Sql): Promise<VerifiedLaw[]> {
  const rows = await sql.selectFrom('verified_law').selectAll().orderBy('law').execute();
  return rows.map(({ law, findings, verified_at }) => ({ law, findings, verifiedAt: verified_at }));
}
