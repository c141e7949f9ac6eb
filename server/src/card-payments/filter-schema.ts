import { builder } from '../graphql/builder.ts';
import type { Types } from '../graphql/mutations.ts';
import { detailsOf } from '../kernel/list-filter.ts';
import type { CardPaymentFilter } from './model.ts';

/** The filter of lists by the payer, as the payment names it. */
export const CustomerFilter = builder.inputType('CustomerFilter', {
  description: 'A customer as the payment names it, by exactly one of the two.',
  isOneOf: true,
  fields: (t) => ({
    email: t.string({ description: 'The whole e-mail address, as it was given.' }),
    externalId: t.string({ description: 'Your own name for the customer, as it was given.' }),
  }),
});

/** The members of each filter of resources that are paid. `reference`: its description. */
export function receivedFilterFields(
  t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>,
  reference: string,
) {
  return {
    createdAfter: t.field({ type: 'DateTime', description: 'Created at this instant or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Created before this instant.' }),
    paidAfter: t.field({ type: 'DateTime', description: 'Paid at this instant or later.' }),
    paidBefore: t.field({ type: 'DateTime', description: 'Paid before this instant.' }),
    refundedAfter: t.field({ type: 'DateTime', description: 'Given back whole at this instant or later.' }),
    refundedBefore: t.field({ type: 'DateTime', description: 'Given back whole before this instant.' }),
    externalId: t.string({ description: 'With this number of yours.' }),
    reference: t.string({ description: reference }),
    amountCents: t.field({ type: 'Cents', description: 'Of exactly this amount.' }),
  };
}

export const CardPaymentFilterInput = builder.inputType('CardPaymentFilter', {
  description: 'Beside `status`. A list with dates is in their order.',
  fields: (t) => ({
    ...receivedFilterFields(t, 'With this orderCode.'),
    customer: t.field({ type: CustomerFilter }),
    releasedAfter: t.field({
      type: 'DateTime',
      description: 'In the balance since this instant or later. In front of another service: NOT_OFFERED.',
    }),
    releasedBefore: t.field({
      type: 'DateTime',
      description: 'In the balance since before this instant. In front of another service: NOT_OFFERED.',
    }),
  }),
});

/** Reads the filter as the port has it. @throws ValidationError naming the argument */
export function filterOf(
  filter: typeof CardPaymentFilterInput.$inferInput | null | undefined,
): CardPaymentFilter {
  const { createdAfter, createdBefore, releasedAfter, releasedBefore } = filter ?? {};
  return {
    ...detailsOf(filter),
    ...{ createdAfter: createdAfter ?? undefined, createdBefore: createdBefore ?? undefined },
    ...{ releasedAfter: releasedAfter ?? undefined, releasedBefore: releasedBefore ?? undefined },
  };
}
