import { builder } from '../../../api/graphql/builder.ts';
import {
  readTotals,
  TotalsGroupingEnum,
  totalsDescription,
  totalsType,
} from '../../../api/graphql/totals-schema.ts';
import { assertHours } from '../../../kernel/totals.ts';
import { filterOf, RefundFilterInput } from '../filter-schema.ts';
import { assertReader, RefundStatusEnum } from '../schema.ts';

const RefundTotals = totalsType('RefundTotals', { list: 'refunds', status: RefundStatusEnum });

builder.queryField('refundTotals', (t) =>
  t.field({
    type: RefundTotals,
    description: totalsDescription('refunds'),
    args: {
      status: t.arg({ type: [RefundStatusEnum] }),
      filter: t.arg({ type: RefundFilterInput }),
      groupBy: t.arg({ type: [TotalsGroupingEnum] }),
    },
    resolve: (_, { groupBy, ...args }, context) => {
      const { tenant, types } = assertReader(context);
      const filter = { ...filterOf(args), types };
      assertHours(groupBy, filter, ['created', 'completed', 'failed']);
      const { refunds } = context.services;
      return readTotals(groupBy, (groups) => refunds.totals(tenant, filter, groups));
    },
  }),
);
