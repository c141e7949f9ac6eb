import { builder } from '../../../api/graphql/builder.ts';
import {
  readTotals,
  TotalsGroupingEnum,
  totalsDescription,
  totalsType,
} from '../../../api/graphql/totals-schema.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { assertHours } from '../../../kernel/totals.ts';
import { PayoutMethodEnum, PayoutStatusEnum } from '../enums-schema.ts';
import { filterOf, PayoutFilterInput } from '../schema.ts';

const PayoutTotals = totalsType('PayoutTotals', {
  list: 'payouts',
  status: PayoutStatusEnum,
  method: PayoutMethodEnum,
});

builder.queryField('payoutTotals', (t) =>
  t.field({
    type: PayoutTotals,
    description: totalsDescription('payouts'),
    args: {
      filter: t.arg({ type: PayoutFilterInput }),
      groupBy: t.arg({ type: [TotalsGroupingEnum] }),
    },
    resolve: (_, { groupBy, ...args }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'payouts.read');
      const filter = filterOf(args.filter ?? {});
      assertHours(groupBy, filter, ['requested', 'processed']);
      const { payouts } = context.services;
      return readTotals(groupBy, (groups) => payouts.totals(caller.tenant, filter, groups));
    },
  }),
);
