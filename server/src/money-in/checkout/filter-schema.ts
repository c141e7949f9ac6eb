import { builder } from '../../api/graphql/builder.ts';
import { deprecatedSince } from '../../api/graphql/deprecations.ts';
import { centsFields, periodFields } from '../../api/graphql/filters.ts';
import type { Types } from '../../api/graphql/mutations.ts';

/** The filter of lists by the payer, as the payment names it. */
export const CustomerFilter = builder.inputType('CustomerFilter', {
  description: 'A customer as named in the payment, by exactly one of the two members.',
  isOneOf: true,
  fields: (t) => ({
    email: t.string({ description: 'The whole e-mail address, in upper or lower case.' }),
    externalId: t.string({ description: 'Your own identifier of the customer, as given.' }),
  }),
});

/** The members of each filter of resources that are paid. `reference`: its description. */
export function receivedFilterFields(
  t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>,
  reference: string,
) {
  return {
    ...periodFields(t, 'created', 'resources created'),
    ...periodFields(t, 'paid', 'resources paid'),
    ...periodFields(t, 'refunded', 'resources whose whole amount was refunded'),
    ...centsFields(t, 'resources'),
    reference: t.string({ description: reference }),
  };
}

/** The members of each filter of payments that belong to orders. */
export function orderFilterFields(t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>) {
  return {
    orderId: t.string({ description: 'Selects the payments of the order with this number.' }),
    externalId: t.string({
      deprecationReason: deprecatedSince('0.2.0', 'Use orderId, which is the same.'),
      description: 'Selects the payments of the order with this number.',
    }),
  };
}
