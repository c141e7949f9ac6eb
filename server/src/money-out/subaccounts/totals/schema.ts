import { builder } from '../../../api/graphql/builder.ts';
import { knownValue } from '../../../api/graphql/paging.ts';
import { readTotals, TotalsGroupingEnum, totalsType } from '../../../api/graphql/totals-schema.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { ValidationError } from '../../../kernel/errors.ts';
import { periodsOf } from '../../../kernel/list-filter.ts';
import { assertHours, isWholeHour } from '../../../kernel/totals.ts';
import type { SubaccountPayoutPeriods, SubaccountPayoutStatus } from '../model.ts';
import { SubaccountPayoutStatusEnum } from '../schema.ts';

const SubaccountPayoutTotals = totalsType('SubaccountPayoutTotals', {
  list: 'payouts of subaccounts',
  status: SubaccountPayoutStatusEnum,
});

const SubaccountPayoutPeriodsInput = builder.inputType('SubaccountPayoutPeriods', {
  description: 'Whole hours in which payouts were requested, or completed; one of the two.',
  fields: (t) => ({
    createdAfter: t.field({
      type: 'DateTime',
      description: 'Selects payouts that were requested at this instant or later; a whole hour.',
    }),
    createdBefore: t.field({
      type: 'DateTime',
      description: 'Selects payouts that were requested before this instant; a whole hour.',
    }),
    completedAfter: t.field({
      type: 'DateTime',
      description: 'Selects payouts that were completed at this instant or later; a whole hour.',
    }),
    completedBefore: t.field({
      type: 'DateTime',
      description: 'Selects payouts that were completed before this instant; a whole hour.',
    }),
  }),
});

builder.queryField('subaccountPayoutTotals', (t) =>
  t.field({
    type: SubaccountPayoutTotals,
    description:
      'The number and the amount of the payouts of all subaccounts that the filter selects, whole and divided. In remote mode: of those that this server has requested or seen.',
    args: {
      status: t.arg({ type: [SubaccountPayoutStatusEnum] }),
      filter: t.arg({ type: SubaccountPayoutPeriodsInput }),
      groupBy: t.arg({ type: [TotalsGroupingEnum] }),
    },
    resolve: (_, { groupBy, ...args }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'subaccount_payouts.read');
      const periods = periodsOf(args.filter, ['created', 'completed']);
      assertWholeHours(periods);
      assertHours(groupBy, periods, ['created', 'completed']);
      const status = args.status?.map((each) => knownValue<SubaccountPayoutStatus>(each, 'status'));
      const { subaccounts } = context.services;
      return readTotals(groupBy, (groups) =>
        subaccounts.payoutTotals(caller.tenant, { ...periods, status }, groups),
      );
    },
  }),
);

/**
 * Asserts periods of whole hours, because no index has the payouts of all subaccounts in the order of an
 * instant. @throws ValidationError
 */
function assertWholeHours(periods: Omit<SubaccountPayoutPeriods, 'status'>): void {
  const { createdAfter, createdBefore, completedAfter, completedBefore } = periods;
  const issues = Object.entries(periods)
    .filter(([, instant]) => instant && !isWholeHour(instant))
    .map(([member]) => ({ path: `filter.${member}`, message: 'must be a whole hour' }));
  if ((createdAfter ?? createdBefore) && (completedAfter ?? completedBefore))
    issues.push({ path: 'filter', message: 'must restrict one of the two instants' });
  if (issues.length > 0) throw new ValidationError(issues);
}
