import { beforeAll, expect, test } from 'vitest';
import type { OwnPayout } from '../../../server/src/money-out/payouts/model.ts';
import { savePayouts } from '../../../server/src/money-out/payouts/store.ts';
import { createLog } from '../../../server/src/programs/ops/log.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { recordsOf } from '../../../server/src/state/db/each-tenant.ts';
import { startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { fund } from '../../support/funds.ts';

const KEY = 'ana.maria@padaria.example';

describeOnDatabase('a PIX key stays out of the log', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('a PIX key stays out of the log where the database refuses its row, and the bank its transfer', async () => {
    const lines: string[] = [];
    const log = createLog({ write: (line) => void lines.push(line) });
    const core = await startCore({
      database,
      bank: (bank) => ({
        ...bank,
        send: (transfer) =>
          Promise.reject(
            Object.assign(new Error('503 from the bank'), { transfer, request: { body: transfer } }),
          ),
      }),
    });
    await fund(core, { cents: 10_000 });
    const { payout } = await core.payouts.request(core.tenant, {
      method: 'pix',
      amountCents: 1_000,
      destination: KEY,
    });
    await core.work.settled();
    const wrong: OwnPayout = { ...payout, withdrawalId: '1'.repeat(24), code: 'SAQ-1', feeCents: 2_000 };
    const fault: Error & { detail?: string } = await savePayouts(
      database.sql,
      recordsOf(core.tenant, [wrong]),
    ).then(
      () => expect.unreachable(),
      (error) => error,
    );
    // The unmasked detail contains the key.
    expect(fault.detail).toContain(KEY);
    for (const err of [fault, ...core.faults]) {
      log.error({ err, task: { key: payout.withdrawalId } }, 'task failed; it will be retried');
      log.error({ err: new Error('in between', { cause: err }) }, 'an internal fault');
    }
    expect(lines).toHaveLength(4);
    expect(lines.join()).toContain('payout_pays_something');
    expect(lines.join()).not.toContain(KEY);
  });
});
