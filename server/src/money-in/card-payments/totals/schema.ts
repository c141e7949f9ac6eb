import { builder } from '../../../api/graphql/builder.ts';
import { knownValue } from '../../../api/graphql/paging.ts';
import { readTotals, TotalsGroupingEnum, totalsDescription } from '../../../api/graphql/totals-schema.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { assertHours } from '../../../kernel/totals.ts';
import { SalesTotals } from '../../pix/totals-schema.ts';
import { CardPaymentFilterInput, filterOf } from '../filter-schema.ts';
import type { CardPaymentStatus } from '../model.ts';
import { CardPaymentStatusEnum } from '../schema.ts';

builder.queryField('cardPaymentTotals', (t) =>
  t.field({
    type: SalesTotals,
    description: totalsDescription('card payments'),
    args: {
      status: t.arg({ type: [CardPaymentStatusEnum] }),
      filter: t.arg({ type: CardPaymentFilterInput }),
      groupBy: t.arg({ type: [TotalsGroupingEnum] }),
    },
    resolve: (_, { groupBy, ...args }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'card_payments.read');
      const status = args.status?.map((each) => knownValue<CardPaymentStatus>(each, 'status'));
      const filter = { ...filterOf(args.filter), status };
      assertHours(groupBy, filter, ['created', 'paid', 'refunded', 'released']);
      const { cardPayments } = context.services;
      return readTotals(groupBy, (groups) => cardPayments.totals(caller.tenant, filter, groups), 'card');
    },
  }),
);
