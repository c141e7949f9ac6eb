import { builder } from '../../../api/graphql/builder.ts';
import { readTotals, TotalsGroupingEnum, totalsType } from '../../../api/graphql/totals-schema.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { ValidationError } from '../../../kernel/errors.ts';
import { assertHours, isWholeHour } from '../../../kernel/totals.ts';
import { SubaccountPayoutStatusEnum } from '../enums-schema.ts';
import { payoutFilterArguments, payoutFilterOf } from '../filter-schema.ts';
import type { SubaccountPayoutFilter } from '../model.ts';

const SubaccountPayoutTotals = totalsType('SubaccountPayoutTotals', {
  list: 'payouts of subaccounts',
  status: SubaccountPayoutStatusEnum,
});

builder.queryField('subaccountPayoutTotals', (t) =>
  t.field({
    type: SubaccountPayoutTotals,
    description:
      'The number and the amount of the payouts of all subaccounts that the filter selects, whole and divided. In remote mode: of those that this server has requested or seen.',
    args: {
      ...payoutFilterArguments(t.arg),
      groupBy: t.arg({ type: [TotalsGroupingEnum] }),
    },
    resolve: (_, { groupBy, ...args }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'subaccount_payouts.read');
      const filter = payoutFilterOf(args);
      assertWholeHours(filter);
      assertHours(groupBy, filter, ['created', 'completed']);
      const { subaccounts } = context.services;
      return readTotals(groupBy, (groups) => subaccounts.payoutTotals(caller.tenant, filter, groups));
    },
  }),
);

/** The members of the filter by which all subaccounts’ payouts are added up. */
const KEPT = ['status', 'createdAfter', 'createdBefore', 'completedAfter', 'completedBefore'];

/**
 * Asserts a filter by statuses and a period of whole hours, for which sums are kept. No index has the payouts of
 * all subaccounts by another condition. @throws ValidationError naming the member
 */
function assertWholeHours(filter: SubaccountPayoutFilter): void {
  const { createdAfter, createdBefore, completedAfter, completedBefore } = filter;
  const issues = Object.entries(filter).flatMap(([member, asked]) => {
    const path = `filter.${member}`;
    if (!KEPT.includes(member))
      return [{ path, message: 'selects in the list of one subaccount alone, not in the totals of all' }];
    return asked instanceof Date && !isWholeHour(asked) ? [{ path, message: 'must be a whole hour' }] : [];
  });
  if ((createdAfter ?? createdBefore) && (completedAfter ?? completedBefore))
    issues.push({ path: 'filter', message: 'must restrict one of the two instants' });
  if (issues.length > 0) throw new ValidationError(issues);
}
