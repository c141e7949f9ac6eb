import type { ArgBuilder, InputShapeFromFields } from '@pothos/core';
import { builder } from '../../api/graphql/builder.ts';
import { centsFields, inFilter, periodFields, withReplaced } from '../../api/graphql/filters.ts';
import type { Types } from '../../api/graphql/mutations.ts';
import { readFilter } from '../../kernel/list-filter.ts';
import { StatementEntryKindEnum, SubaccountPayoutStatusEnum } from './enums-schema.ts';
import type { StatementFilter, SubaccountFilter, SubaccountPayoutFilter } from './model.ts';

export const SubaccountFilterInput = builder.inputType('SubaccountFilter', {
  description: 'Conditions of the list of subaccounts. A list with dates is in the order of createdAt.',
  fields: (t) =>
    ({
      externalId: t.string({ description: 'Selects the subaccount with this externalId.' }),
      ...periodFields(t, 'created', 'subaccounts that were opened'),
    }) satisfies { [Member in keyof SubaccountFilter]-?: unknown },
});

export const StatementFilterInput = builder.inputType('StatementFilter', {
  description:
    'Conditions that an entry has to fulfill all at once. The list is then in the order of createdAt.',
  fields: (t) =>
    ({
      kind: t.field({
        type: [StatementEntryKindEnum],
        description: 'Selects entries of any of these kinds.',
      }),
      ...periodFields(t, 'created', 'entries made'),
      reference: t.string({ description: 'Selects entries with this refId.' }),
      ...centsFields(t, 'entries, in or out,'),
    }) satisfies { [Member in keyof StatementFilter]-?: unknown },
});

/** Reads the filter as the port has it; undefined if it has no members. @throws ValidationError naming the argument */
export function statementFilterOf(
  given: typeof StatementFilterInput.$inferInput | null | undefined,
): StatementFilter | undefined {
  const filter = readFilter<StatementFilter>(given);
  return Object.keys(filter).length === 0 ? undefined : filter;
}

const SubaccountPayoutFilterInput = builder.inputType('SubaccountPayoutFilter', {
  description:
    'Conditions of a list of payouts of subaccounts. A list with dates is in the order of these dates.',
  fields: (t) =>
    ({
      status: t.field({ type: [SubaccountPayoutStatusEnum] }),
      ...periodFields(t, 'created', 'payouts that were requested'),
      ...periodFields(t, 'completed', 'payouts that were completed'),
      ...periodFields(t, 'reversed', 'payouts whose amount was back in the subaccount'),
      ...centsFields(t, 'payouts'),
      externalId: t.string({ description: 'Selects payouts with this externalId.' }),
      reference: t.string({
        description:
          'Selects the payout with this payoutId, withdrawalId, code or endToEndId, or with a code that it had before.',
      }),
    }) satisfies { [Member in keyof SubaccountPayoutFilter]-?: unknown },
});

/** The arguments of the list of payouts, of its totals and of its updates. */
export const payoutFilterArguments = (arg: ArgBuilder<Types>) => ({
  filter: arg({ type: SubaccountPayoutFilterInput }),
  status: arg({ type: [SubaccountPayoutStatusEnum], deprecationReason: inFilter('status') }),
});

/** Reads the arguments as the port has them. @throws ValidationError naming the argument */
export function payoutFilterOf({
  filter,
  status,
}: InputShapeFromFields<ReturnType<typeof payoutFilterArguments>>) {
  return readFilter<SubaccountPayoutFilter>(withReplaced(filter, { status }));
}
