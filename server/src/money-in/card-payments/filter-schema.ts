import { builder } from '../../api/graphql/builder.ts';
import { detailsOf, periodsOf } from '../../kernel/list-filter.ts';
import { CustomerFilter, orderFilterFields, receivedFilterFields } from '../checkout/filter-schema.ts';
import type { CardPaymentFilter } from './model.ts';

export const CardPaymentFilterInput = builder.inputType('CardPaymentFilter', {
  description:
    'Conditions of a list of card payments besides `status`. A list with dates is in the order of these dates.',
  fields: (t) => ({
    ...receivedFilterFields(t, 'Selects the payment with this orderCode.'),
    ...orderFilterFields(t),
    customer: t.field({ type: CustomerFilter }),
    releasedAfter: t.field({
      type: 'DateTime',
      description:
        'Selects payments whose money reached the balance at this instant or later. In remote mode: NOT_OFFERED.',
    }),
    releasedBefore: t.field({
      type: 'DateTime',
      description:
        'Selects payments whose money reached the balance before this instant. In remote mode: NOT_OFFERED.',
    }),
  }),
});

/** Reads the filter as the port has it. @throws ValidationError naming the argument */
export function filterOf(
  filter: typeof CardPaymentFilterInput.$inferInput | null | undefined,
): CardPaymentFilter {
  return { ...detailsOf(filter), ...periodsOf(filter, ['created', 'released']) };
}
