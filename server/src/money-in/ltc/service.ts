import { NotFoundError, ValidationError } from '../../kernel/errors.ts';
import type { Committer } from '../../state/commit/commit.ts';
import type { Database } from '../../state/db/database.ts';
import { type LtcFamily, outputs, recordedOutputs, writesOfLtc } from './collections.ts';
import { decideCreditUnmatched } from './decisions.ts';
import type { LtcAdministration, LtcControls, StoredLtcResource } from './model.ts';

const MAX_LISTED = 100;

/** Creates the operator's side of payments by LTC, for the command line and for tests. */
export function createLtcControls<R extends StoredLtcResource>({
  database,
  committer,
  family,
}: {
  database: Database;
  committer: Committer;
  family: LtcFamily<R>;
}): LtcControls & LtcAdministration {
  const controls: LtcControls = {
    creditUnmatched: (tenant, id) =>
      committer.change<number>({
        tenant,
        read: (reader) => Promise.all([reader.load(family.records, id), reader.load(outputs, id)]),
        decide(state) {
          const payment = state.get(family.records, id);
          if (!payment?.ltc) throw new NotFoundError('Payment not found');
          const recorded = recordedOutputs(state, id);
          const change = decideCreditUnmatched(payment, recorded);
          if (!change) return { outcome: 0 };
          return {
            outcome: change.outputs.reduce((sum, { litoshi }) => sum + litoshi, 0),
            writes: writesOfLtc(family, change, recorded),
          };
        },
      }),
  };
  return {
    ...controls,
    async listUnmatchedLtc({ after }) {
      const found = await family.selectUnmatched(database.sql, { after, limit: MAX_LISTED + 1 });
      if (!found)
        throw new ValidationError([{ path: 'after', message: 'is not a payment that has received LTC' }]);
      const payments = found.slice(0, MAX_LISTED);
      return { payments, next: found.length > MAX_LISTED ? payments.at(-1)!.paymentId : null };
    },
    async creditLtc({ id }) {
      const found = await family.selectHosted(database.sql, id);
      if (!found) throw new NotFoundError('There is no such payment');
      return { paymentId: id, litoshi: await controls.creditUnmatched(found.tenant, id) };
    },
  };
}
