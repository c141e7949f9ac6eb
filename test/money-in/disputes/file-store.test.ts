import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { insertFiles, selectFile, sumOfFiles } from '../../../server/src/money-in/disputes/file-store.ts';
import { MAX_FILE_BYTES } from '../../../server/src/money-in/disputes/files.ts';
import { recordsOf } from '../../../server/src/state/db/each-tenant.ts';
import { describeOnDatabase } from '../../support/database.ts';

describeOnDatabase('the bytes of files', (open) => {
  test('The largest file comes back as it was, to its tenant alone, and counts there', async () => {
    const { sql } = await open();
    const tenant = { accountId: 'acc_1', environment: 'live' } as const;
    const sealed = randomBytes(MAX_FILE_BYTES + 28);
    const file = { fileId: 'dsf_1', disputeId: 'dsp_1', sizeBytes: MAX_FILE_BYTES, keyId: 'k', sealed };
    await insertFiles(sql, recordsOf(tenant, [file]));
    expect((await selectFile(sql, tenant, 'dsf_1'))?.sealed.equals(sealed)).toBe(true);
    expect(await sumOfFiles(sql, tenant)).toBe(MAX_FILE_BYTES);
    for (const other of [{ ...tenant, environment: 'sandbox' } as const, { ...tenant, accountId: 'acc_2' }])
      expect([await selectFile(sql, other, 'dsf_1'), await sumOfFiles(sql, other)]).toEqual([null, 0]);
  });
});
