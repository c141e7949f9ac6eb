import { NotFoundError } from '../../kernel/errors.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import { withoutExtra } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Committer } from '../../state/commit/commit.ts';
import { readReplay, remember, replayed } from '../../state/commit/idempotency.ts';
import type { Database } from '../../state/db/database.ts';
import { vouchers, writesOf } from './collections.ts';
import { decideCreate, decidePay } from './decisions.ts';
import { newVoucherId, type StoredVoucher, type VoucherControls, type VoucherService } from './model.ts';
import { countVouchers, listVouchers, selectVoucherAndVersion, voucherTable } from './store.ts';

const CREATE = 'createVoucher';

/** The port on Postgres. */
export function createVoucherService({
  database: { sql },
  committer,
}: {
  database: Database;
  committer: Committer;
}): VoucherService<StoredVoucher> & VoucherControls {
  async function findMany(tenant: Tenant, ids: readonly string[]) {
    const found = await voucherTable.load(sql, tenant, ids);
    return ids.map((id) => found.find(({ voucherId }) => voucherId === id) ?? null);
  }

  return {
    create(tenant, { idempotencyKey: key, ...input }) {
      const [voucherId, inputHash] = [newVoucherId(), hashInput(input)];
      return committer.change<{ voucher: StoredVoucher; replayed: boolean }>({
        tenant,
        read: (reader) => readReplay(reader, CREATE, key, (made) => reader.load(vouchers, made)),
        decide(state) {
          const made = key == null ? null : replayed(state, CREATE, key, inputHash);
          if (made !== null) return { outcome: { voucher: state.need(vouchers, made), replayed: true } };
          const change = decideCreate(input, { voucherId, now: state.now });
          const writes = writesOf(change);
          if (key != null)
            writes.records.push(remember({ operation: CREATE, key, inputHash, resourceId: voucherId }));
          return { outcome: { voucher: change.voucher, replayed: false }, writes };
        },
      });
    },

    pay: (tenant, voucherId) =>
      committer.change<boolean>({
        tenant,
        read: (reader) => reader.load(vouchers, voucherId),
        decide(state) {
          const voucher = state.get(vouchers, voucherId);
          if (!voucher) throw new NotFoundError('Voucher not found');
          const { balances, now } = state;
          const change = decidePay(voucher, { environment: tenant.environment, balances, now });
          return change ? { outcome: true, writes: writesOf(change) } : { outcome: false };
        },
      }),

    find: async (tenant, voucherId) => (await findMany(tenant, [voucherId]))[0] ?? null,
    findMany,
    findWithVersion: (tenant, voucherId) => selectVoucherAndVersion(sql, tenant, voucherId),
    list: async (tenant, range) =>
      withoutExtra(await listVouchers(sql, tenant, { ...range, limit: range.limit + 1 }), range),
    async listPage(tenant, page) {
      const [items, total] = await Promise.all([
        listVouchers(sql, tenant, { end: 'first', ...page }),
        countVouchers(sql, tenant, {}),
      ]);
      return { items: items.map(({ resource }) => resource), total };
    },
    count: (tenant, filter) => countVouchers(sql, tenant, filter),
  };
}
