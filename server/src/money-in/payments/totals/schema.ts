import { builder } from '../../../api/graphql/builder.ts';
import { readTotals, TotalsGroupingEnum, totalsDescription } from '../../../api/graphql/totals-schema.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { assertHours } from '../../../kernel/totals.ts';
import { SalesTotals } from '../../pix/totals-schema.ts';
import { PaymentFilterInput, paymentFilterOf } from '../schema.ts';

builder.queryField('paymentTotals', (t) =>
  t.field({
    type: SalesTotals,
    description: totalsDescription('payments by PIX and LTC'),
    args: {
      filter: t.arg({ type: PaymentFilterInput }),
      groupBy: t.arg({ type: [TotalsGroupingEnum] }),
    },
    resolve: (_, { groupBy, ...args }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'payments.read');
      const filter = paymentFilterOf(args.filter);
      assertHours(groupBy, filter, ['created', 'paid', 'refunded']);
      const { payments } = context.services;
      return readTotals(groupBy, (groups) => payments.totals(caller.tenant, filter, groups));
    },
  }),
);
