import type { ArgBuilder, InputShapeFromFields } from '@pothos/core';
import { builder } from '../../api/graphql/builder.ts';
import { centsFields, inFilter, periodFields, withReplaced } from '../../api/graphql/filters.ts';
import type { Types } from '../../api/graphql/mutations.ts';
import { readFilter } from '../../kernel/list-filter.ts';
import { CustomerFilter } from '../checkout/filter-schema.ts';
import { CycleStatusEnum, SubscriptionStatusEnum } from './enums-schema.ts';
import type { CycleFilter, SubscriptionFilter } from './model.ts';

const SubscriptionFilterInput = builder.inputType('PixSubscriptionFilter', {
  description: 'Conditions of a list of subscriptions. A list with dates is in the order of these dates.',
  fields: (t) =>
    ({
      status: t.field({ type: [SubscriptionStatusEnum] }),
      reference: t.string({ description: 'Selects the subscription with this subscriptionId.' }),
      customer: t.field({ type: CustomerFilter }),
      ...centsFields(t, 'subscriptions whose cycles are each'),
      ...periodFields(t, 'created', 'subscriptions created'),
      ...periodFields(t, 'canceled', 'subscriptions canceled'),
    }) satisfies { [Member in keyof SubscriptionFilter]-?: unknown },
});

/** The arguments of the list and of its updates. */
export const filterArguments = (arg: ArgBuilder<Types>) => ({
  filter: arg({ type: SubscriptionFilterInput }),
  status: arg({ type: [SubscriptionStatusEnum], deprecationReason: inFilter('status') }),
});

/** Reads the arguments as the port has them. @throws ValidationError naming the argument */
export function filterOf({ filter, status }: InputShapeFromFields<ReturnType<typeof filterArguments>>) {
  return readFilter<SubscriptionFilter>(withReplaced(filter, { status }));
}

export const CycleFilterInput = builder.inputType('SubscriptionCycleFilter', {
  description: 'Conditions of the cycles of a subscription.',
  fields: (t) =>
    ({
      status: t.field({ type: [CycleStatusEnum] }),
      ...periodFields(t, 'due', 'cycles due'),
      ...periodFields(t, 'paid', 'cycles paid'),
    }) satisfies { [Member in keyof CycleFilter]-?: unknown },
});
