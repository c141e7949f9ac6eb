import type { Sql } from '../state/db/database.ts';
import type { Logo } from './logo.ts';

/** The parts of a brand to set: null removes a part, undefined leaves it. */
export interface BrandChange {
  color?: string | null | undefined;
  logo?: Logo | null | undefined;
}

export async function setBrand(sql: Sql, accountId: string, { color, logo }: BrandChange): Promise<void> {
  const columns = {
    ...(color !== undefined && { color }),
    ...(logo !== undefined && {
      logo: logo?.bytes ?? null,
      logo_type: logo?.type ?? null,
      logo_hash: logo?.hash ?? null,
    }),
  };
  await sql
    .insertInto('account_brand')
    .values({ account_id: accountId, ...columns })
    .onConflict((conflict) =>
      conflict.column('account_id').doUpdateSet({ account_id: accountId, ...columns }),
    )
    .execute();
}

/** The color, and the hash of the logo, of an account's pages. */
export async function selectBrand(
  sql: Sql,
  accountId: string,
): Promise<{ color: string | null; logoHash: string | null } | null> {
  const row = await sql
    .selectFrom('account_brand')
    .select(['color', 'logo_hash'])
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row ? { color: row.color, logoHash: row.logo_hash } : null;
}

/** Finds a logo by its hash. Two accounts may have the same one. */
export async function selectLogo(sql: Sql, hash: string): Promise<{ type: string; bytes: Buffer } | null> {
  const row = await sql
    .selectFrom('account_brand')
    .select(['logo', 'logo_type'])
    .where('logo_hash', '=', hash)
    .limit(1)
    .executeTakeFirst();
  return row?.logo && row.logo_type ? { type: row.logo_type, bytes: Buffer.from(row.logo) } : null;
}
