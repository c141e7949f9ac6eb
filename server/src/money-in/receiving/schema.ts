import type { Context } from '../../api/graphql/context.ts';
import type { Types } from '../../api/graphql/mutations.ts';
import type { Returned } from './model.ts';

/**
 * The fields of a payment in an order that show whether its money was returned because another payment was
 * kept.
 */
export function returnedFields<Shape extends { status: string } & Partial<Returned>>(
  builderOfFields: PothosSchemaTypes.ObjectFieldBuilder<Types, Shape>,
  /** Whether the caller may see the merchant's data: a payment's identifier is the secret of its page. */
  isMerchants: (context: Context) => boolean,
) {
  const t = builderOfFields as unknown as PothosSchemaTypes.ObjectFieldBuilder<
    Types,
    { status: string } & Partial<Returned>
  >;
  return {
    returned: t.boolean({
      nullable: true,
      description:
        'Whether its money arrived and is returned to the payer: another payment of its order was paid before, or the merchant had canceled it. Such a payment is FAILED and was never PAID; `returns` lists its money. False for LTC, which waits for the operator. Null if the upstream service does not report it.',
      resolve: ({ status, returned = null }) =>
        status === 'failed' || status === 'unknown' ? returned : false,
    }),
    keptPayment: t.string({
      nullable: true,
      description:
        'The orderCode or paymentId of the payment of the same order that was kept, if this one has EXPIRED or FAILED after it. Null otherwise, and to a browser’s checkout or payment token.',
      resolve: ({ keptPayment = null }, _, context) => (isMerchants(context) ? keptPayment : null),
    }),
  };
}
