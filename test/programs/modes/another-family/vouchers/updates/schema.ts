import { builder } from '../../../api/graphql/builder.ts';
import { defineUpdates } from '../../../api/graphql/updates.ts';
import { assertVoucherId, matchesFilter } from '../model.ts';
import { readerOf, VoucherFilterInput, VoucherRef, VoucherStatusEnum, voucherFilterOf } from '../schema.ts';

const updates = defineUpdates({
  type: 'VoucherUpdate',
  kind: 'VOUCHER',
  covers: 'Vouchers',
  resource: 'voucher',
  title: 'Voucher',
  status: VoucherStatusEnum,
  fields: (t) => ({ voucher: t.field({ type: VoucherRef, resolve: ({ item }) => item }) }),
  authorize: readerOf,
  isOver: ({ status }) => status === 'paid',
});

builder.subscriptionFields((t) => ({
  voucherUpdates: t.field({
    type: updates.type,
    description: 'The voucher, then its payment, which completes the stream.',
    args: {
      voucherId: t.arg.string({ required: true, description: 'The identifier of the voucher.' }),
      after: t.arg.string(),
    },
    subscribe: (_, { voucherId, after }, context) =>
      updates.follow(context, voucherId, after, async () => {
        const { tenant } = readerOf(context);
        assertVoucherId(voucherId);
        const found = await context.services.vouchers.findWithVersion(tenant, voucherId);
        return found && { version: found.version, item: found.resource, since: found.resource.paidAt };
      }),
    resolve: (update) => update,
  }),
  allVoucherUpdates: t.field({
    type: updates.type,
    description: 'Every voucher of the account; no first state, only changes.',
    args: { after: t.arg.string(), filter: t.arg({ type: VoucherFilterInput }) },
    subscribe: (_, { after, ...args }, context) =>
      updates.followAll(context, after, () => {
        const filter = voucherFilterOf(args.filter);
        return ({ snapshot }) => matchesFilter(snapshot, filter);
      }),
    resolve: (update) => update,
  }),
}));
