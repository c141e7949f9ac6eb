import { builder } from '../../../api/graphql/builder.ts';
import { readTotals, TotalsGroupingEnum, totalsDescription } from '../../../api/graphql/totals-schema.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { assertHours } from '../../../kernel/totals.ts';
import { SalesTotals } from '../../pix/totals-schema.ts';
import { filterArguments, filterOf } from '../filter-schema.ts';

builder.queryField('cardPaymentTotals', (t) =>
  t.field({
    type: SalesTotals,
    description: totalsDescription('card payments'),
    args: {
      ...filterArguments(t.arg),
      groupBy: t.arg({ type: [TotalsGroupingEnum] }),
    },
    resolve: (_, { groupBy, ...args }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'card_payments.read');
      const filter = filterOf(args);
      assertHours(groupBy, filter, ['created', 'paid', 'refunded', 'released']);
      const { cardPayments } = context.services;
      return readTotals(groupBy, (groups) => cardPayments.totals(caller.tenant, filter, groups), 'card');
    },
  }),
);
