import { builder } from '../../api/graphql/builder.ts';
import { knownValue } from '../../api/graphql/paging.ts';
import { periodsOf } from '../../kernel/list-filter.ts';
import type { RefundFilter, RefundStatus } from './model.ts';

export const RefundFilterInput = builder.inputType('RefundFilter', {
  description:
    'Conditions of a list of refunds besides `status`. A list with dates is in the order of these dates.',
  fields: (t) => ({
    createdAfter: t.field({
      type: 'DateTime',
      description: 'Selects refunds that were requested at this instant or later.',
    }),
    createdBefore: t.field({
      type: 'DateTime',
      description: 'Selects refunds that were requested before this instant.',
    }),
    completedAfter: t.field({
      type: 'DateTime',
      description: 'Selects refunds that were completed at this instant or later.',
    }),
    completedBefore: t.field({
      type: 'DateTime',
      description: 'Selects refunds that were completed before this instant.',
    }),
    failedAfter: t.field({
      type: 'DateTime',
      description: 'Selects refunds that failed at this instant or later.',
    }),
    failedBefore: t.field({
      type: 'DateTime',
      description: 'Selects refunds that failed before this instant.',
    }),
  }),
});

/** Reads the arguments as the port has them. @throws ValidationError naming the argument */
export function filterOf({
  status,
  filter,
}: {
  status?: readonly (RefundStatus | 'unknown')[] | null | undefined;
  filter?: typeof RefundFilterInput.$inferInput | null | undefined;
}): Omit<RefundFilter, 'types'> {
  return {
    ...periodsOf(filter, ['created', 'completed', 'failed']),
    status: status?.map((each) => knownValue<RefundStatus>(each, 'status')),
  };
}
