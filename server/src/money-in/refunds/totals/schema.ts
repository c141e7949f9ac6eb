import { builder } from '../../../api/graphql/builder.ts';
import {
  readTotals,
  TotalsGroupingEnum,
  totalsDescription,
  totalsType,
} from '../../../api/graphql/totals-schema.ts';
import { assertHours } from '../../../kernel/totals.ts';
import { RefundStatusEnum } from '../enums-schema.ts';
import { filterArguments, filterOf } from '../filter-schema.ts';
import { assertReader } from '../schema.ts';

const RefundTotals = totalsType('RefundTotals', { list: 'refunds', status: RefundStatusEnum });

builder.queryField('refundTotals', (t) =>
  t.field({
    type: RefundTotals,
    description: totalsDescription('refunds'),
    args: {
      ...filterArguments(t.arg),
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
