import type { ArgBuilder, InputShapeFromFields } from '@pothos/core';
import { builder } from '../../api/graphql/builder.ts';
import { centsFields, inFilter, periodFields, withReplaced } from '../../api/graphql/filters.ts';
import type { Types } from '../../api/graphql/mutations.ts';
import { readFilter } from '../../kernel/list-filter.ts';
import { DisputeStatusEnum } from './enums-schema.ts';
import type { DisputeFilter } from './model.ts';

const DisputeFilterInput = builder.inputType('DisputeFilter', {
  description: 'Conditions of a list of disputes. A list with dates is in the order of these dates.',
  fields: (t) =>
    ({
      status: t.field({ type: [DisputeStatusEnum] }),
      reference: t.string({ description: 'Selects the dispute with this disputeId.' }),
      ...centsFields(t, 'disputes'),
      ...periodFields(t, 'created', 'disputes that were opened'),
      ...periodFields(t, 'closed', 'disputes that were decided'),
    }) satisfies { [Member in keyof DisputeFilter]-?: unknown },
});

/** The arguments of the list and of its updates. */
export const filterArguments = (arg: ArgBuilder<Types>) => ({
  filter: arg({ type: DisputeFilterInput }),
  status: arg({ type: [DisputeStatusEnum], deprecationReason: inFilter('status') }),
});

/** Reads the arguments as the port has them. @throws ValidationError naming the argument */
export function filterOf({ filter, status }: InputShapeFromFields<ReturnType<typeof filterArguments>>) {
  return readFilter<DisputeFilter>(withReplaced(filter, { status }));
}
