import type { Sealed } from '../../kernel/sealing.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import type { TenantRecord } from '../../state/db/each-tenant.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import type { TenantTable } from '../../state/db/tenant-table.ts';

/** The bytes of a file, encrypted. */
export interface StoredFile extends Sealed {
  fileId: string;
  disputeId: string;
  /** The size of the file itself. */
  sizeBytes: number;
}

declare module '../../state/db/tables.ts' {
  interface Tables {
    dispute_file: TenantTable & {
      file_id: string;
      dispute_id: string;
      size_bytes: number;
      key_id: string;
      sealed: Uint8Array;
    };
  }
}

/** Inserts files, each by a statement of its own: bytes are sent as they are, and never as text. */
export async function insertFiles(sql: Sql, files: readonly TenantRecord<StoredFile>[]): Promise<void> {
  for (const { tenant, record } of files)
    await sql
      .insertInto('dispute_file')
      .values({
        file_id: record.fileId,
        account_id: tenant.accountId,
        environment: tenant.environment,
        dispute_id: record.disputeId,
        size_bytes: record.sizeBytes,
        key_id: record.keyId,
        sealed: record.sealed,
      })
      .execute();
}

export async function deleteFiles(
  sql: Sql,
  files: readonly TenantRecord<{ fileId: string }>[],
): Promise<void> {
  for (const { tenant, record } of files)
    await sql
      .deleteFrom('dispute_file')
      .where('account_id', '=', tenant.accountId)
      .where('environment', '=', tenant.environment)
      .where('file_id', '=', record.fileId)
      .execute();
}

export async function selectFile(sql: Sql, tenant: Tenant, fileId: string): Promise<Sealed | null> {
  const row = await ofTenant(sql, 'dispute_file', tenant)
    .select(['key_id', 'sealed'])
    .where('file_id', '=', fileId)
    .executeTakeFirst();
  return row ? { keyId: row.key_id, sealed: Buffer.from(row.sealed) } : null;
}

/** Adds up the bytes of all files of a tenant. */
export async function sumOfFiles(sql: Sql, tenant: Tenant): Promise<number> {
  const { bytes } = await ofTenant(sql, 'dispute_file', tenant)
    .select(({ fn }) => fn.sum<number | null>('size_bytes').as('bytes'))
    .executeTakeFirstOrThrow();
  return Number(bytes ?? 0);
}

/** Counts the files of all tenants by their key. */
export async function countFilesByKey(sql: Sql): Promise<{ keyId: string; files: number }[]> {
  const rows = await sql
    .selectFrom('dispute_file')
    .select(({ fn }) => ['key_id', fn.countAll<number>().as('files')])
    .groupBy('key_id')
    .execute();
  return rows.map(({ key_id: keyId, files }) => ({ keyId, files: Number(files) }));
}
