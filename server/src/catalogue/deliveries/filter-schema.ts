import type { ArgBuilder, InputShapeFromFields } from '@pothos/core';
import { builder } from '../../api/graphql/builder.ts';
import { inFilter, periodFields, withReplaced } from '../../api/graphql/filters.ts';
import type { Types } from '../../api/graphql/mutations.ts';
import { readFilter } from '../../kernel/list-filter.ts';
import { productIdText } from '../../money-in/checkout/model.ts';
import { DeliveryKindEnum, DeliveryStockEnum } from './enums-schema.ts';
import type { DeliveryFilter } from './model.ts';

const IN_REMOTE_MODE = ' In remote mode: NOT_OFFERED.';
const STOCK = 'Selects deliveries with any of these stocks; an empty list finds nothing.';

const DeliveryFilterInput = builder.inputType('DeliveryFilter', {
  description: 'Conditions of a list of deliveries of content.',
  fields: (t) =>
    ({
      productId: t.string({
        description: 'Selects deliveries of the product with this productId.',
        validate: { schema: productIdText as never },
      }),
      kind: t.field({
        type: [DeliveryKindEnum],
        description: `Selects deliveries of any of these kinds.${IN_REMOTE_MODE}`,
      }),
      stock: t.field({ type: [DeliveryStockEnum], description: STOCK + IN_REMOTE_MODE }),
      ...periodFields(t, 'created', 'deliveries created', IN_REMOTE_MODE),
    }) satisfies { [Member in keyof DeliveryFilter]-?: unknown },
});

/** The arguments of the list. */
export const filterArguments = (arg: ArgBuilder<Types>) => ({
  filter: arg({ type: DeliveryFilterInput }),
  productId: arg.string({
    validate: { schema: productIdText as never },
    deprecationReason: inFilter('productId'),
  }),
  stock: arg({
    type: [DeliveryStockEnum],
    description: STOCK + IN_REMOTE_MODE,
    deprecationReason: inFilter('stock'),
  }),
});

/** Reads the arguments as the port has them. @throws ValidationError naming the argument */
export function filterOf({
  filter,
  productId,
  stock,
}: InputShapeFromFields<ReturnType<typeof filterArguments>>) {
  return readFilter<DeliveryFilter>(withReplaced(filter, { productId, stock }));
}
