import type { ArgBuilder, InputShapeFromFields } from '@pothos/core';
import { builder } from '../../api/graphql/builder.ts';
import { centsFields, inFilter, periodFields, withReplaced } from '../../api/graphql/filters.ts';
import type { Types } from '../../api/graphql/mutations.ts';
import { readFilter } from '../../kernel/list-filter.ts';
import { RefundStatusEnum } from './enums-schema.ts';
import type { RefundFilter } from './model.ts';

const RefundFilterInput = builder.inputType('RefundFilter', {
  description: 'Conditions of a list of refunds. A list with dates is in the order of these dates.',
  fields: (t) =>
    ({
      status: t.field({ type: [RefundStatusEnum] }),
      reference: t.string({ description: 'Selects the refund with this refundId or endToEndId.' }),
      ...centsFields(t, 'refunds'),
      ...periodFields(t, 'created', 'refunds that were requested'),
      ...periodFields(t, 'completed', 'refunds that were completed'),
      ...periodFields(t, 'failed', 'refunds that failed'),
    }) satisfies { [Member in Exclude<keyof RefundFilter, 'types'>]-?: unknown },
});

/** The arguments of the list, of its totals and of its updates. */
export const filterArguments = (arg: ArgBuilder<Types>) => ({
  filter: arg({ type: RefundFilterInput }),
  status: arg({ type: [RefundStatusEnum], deprecationReason: inFilter('status') }),
});

/** Reads the arguments as the port has them. @throws ValidationError naming the argument */
export function filterOf({ filter, status }: InputShapeFromFields<ReturnType<typeof filterArguments>>) {
  return readFilter<Omit<RefundFilter, 'types'>>(withReplaced(filter, { status }));
}
