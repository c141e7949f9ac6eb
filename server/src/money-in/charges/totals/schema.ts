import { builder } from '../../../api/graphql/builder.ts';
import { readTotals, TotalsGroupingEnum, totalsDescription } from '../../../api/graphql/totals-schema.ts';
import { callerOf } from '../../../kernel/caller.ts';
import { assertHours } from '../../../kernel/totals.ts';
import { SalesTotals } from '../../pix/totals-schema.ts';
import { ChargeFilterInput, chargeFilterOf, mayReadCharge } from '../schema.ts';

builder.queryField('chargeTotals', (t) =>
  t.field({
    type: SalesTotals,
    description: totalsDescription('charges'),
    args: {
      filter: t.arg({ type: ChargeFilterInput }),
      groupBy: t.arg({ type: [TotalsGroupingEnum] }),
    },
    resolve: (_, { groupBy, ...args }, context) => {
      const caller = callerOf(context);
      mayReadCharge(caller);
      const filter = chargeFilterOf(args.filter);
      assertHours(groupBy, filter, ['created', 'paid', 'refunded']);
      const { charges } = context.services;
      return readTotals(groupBy, (groups) => charges.totals(caller.tenant, filter, groups), 'pix');
    },
  }),
);
