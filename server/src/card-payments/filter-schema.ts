import { builder } from '../graphql/builder.ts';
import type { Types } from '../graphql/mutations.ts';
import { detailsOf } from '../kernel/list-filter.ts';
import type { CardPaymentFilter } from './model.ts';

/** The filter of lists by the payer, as the payment names it. */
export const CustomerFilter = builder.inputType('CustomerFilter', {
  description: 'A customer as named in the payment, by exactly one of the two members.',
  isOneOf: true,
  fields: (t) => ({
    email: t.string({ description: 'The whole e-mail address, as given.' }),
    externalId: t.string({ description: 'Your own identifier of the customer, as given.' }),
  }),
});

/** The members of each filter of resources that are paid. `reference`: its description. */
export function receivedFilterFields(
  t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>,
  reference: string,
) {
  return {
    createdAfter: t.field({
      type: 'DateTime',
      description: 'Selects resources created at this instant or later.',
    }),
    createdBefore: t.field({
      type: 'DateTime',
      description: 'Selects resources created before this instant.',
    }),
    paidAfter: t.field({ type: 'DateTime', description: 'Selects resources paid at this instant or later.' }),
    paidBefore: t.field({ type: 'DateTime', description: 'Selects resources paid before this instant.' }),
    refundedAfter: t.field({
      type: 'DateTime',
      description: 'Selects resources whose whole amount was refunded at this instant or later.',
    }),
    refundedBefore: t.field({
      type: 'DateTime',
      description: 'Selects resources whose whole amount was refunded before this instant.',
    }),
    externalId: t.string({ description: 'Selects resources with this externalId.' }),
    reference: t.string({ description: reference }),
    amountCents: t.field({
      type: 'Cents',
      description: 'Selects resources of exactly this amount in cents.',
    }),
  };
}

export const CardPaymentFilterInput = builder.inputType('CardPaymentFilter', {
  description:
    'Conditions of a list of card payments besides `status`. A list with dates is in the order of these dates.',
  fields: (t) => ({
    ...receivedFilterFields(t, 'Selects the payment with this orderCode.'),
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
  const { createdAfter, createdBefore, releasedAfter, releasedBefore } = filter ?? {};
  return {
    ...detailsOf(filter),
    ...{ createdAfter: createdAfter ?? undefined, createdBefore: createdBefore ?? undefined },
    ...{ releasedAfter: releasedAfter ?? undefined, releasedBefore: releasedBefore ?? undefined },
  };
}
