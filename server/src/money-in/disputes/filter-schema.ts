import { builder } from '../../api/graphql/builder.ts';
import { knownValue } from '../../api/graphql/paging.ts';
import { periodsOf } from '../../kernel/list-filter.ts';
import type { Dispute, DisputeFilter, DisputeStatus } from './model.ts';

export const DisputeFilterInput = builder.inputType('DisputeFilter', {
  description:
    'Conditions of a list of disputes besides `status`. A list with dates is in the order of these dates.',
  fields: (t) => ({
    createdAfter: t.field({
      type: 'DateTime',
      description: 'Selects disputes that were opened at this instant or later.',
    }),
    createdBefore: t.field({
      type: 'DateTime',
      description: 'Selects disputes that were opened before this instant.',
    }),
    closedAfter: t.field({
      type: 'DateTime',
      description: 'Selects disputes that were decided at this instant or later.',
    }),
    closedBefore: t.field({
      type: 'DateTime',
      description: 'Selects disputes that were decided before this instant.',
    }),
  }),
});

/** Reads the arguments as the port has them. @throws ValidationError naming the argument */
export function filterOf({
  status,
  filter,
}: {
  status?: readonly Dispute['status'][] | null | undefined;
  filter?: typeof DisputeFilterInput.$inferInput | null | undefined;
}): DisputeFilter {
  return {
    ...periodsOf(filter, ['created', 'closed']),
    status: status?.map((each) => knownValue<DisputeStatus>(each, 'status')),
  };
}
