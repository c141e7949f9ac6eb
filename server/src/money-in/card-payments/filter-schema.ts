import type { ArgBuilder, InputShapeFromFields } from '@pothos/core';
import { builder } from '../../api/graphql/builder.ts';
import { inFilter, periodFields, withReplaced } from '../../api/graphql/filters.ts';
import type { Types } from '../../api/graphql/mutations.ts';
import { readFilter } from '../../kernel/list-filter.ts';
import { CustomerFilter, orderFilterFields, receivedFilterFields } from '../checkout/filter-schema.ts';
import { PaymentStatusEnum } from '../receiving/sale-schema.ts';
import { CardPaymentStatusEnum } from './enums-schema.ts';
import type { CardPaymentFilter } from './model.ts';

const CardPaymentFilterInput = builder.inputType('CardPaymentFilter', {
  description: 'Conditions of a list of card payments. A list with dates is in the order of these dates.',
  fields: (t) =>
    ({
      ...receivedFilterFields(t, 'Selects the payment with this orderCode.'),
      ...orderFilterFields(t),
      status: t.field({ type: [PaymentStatusEnum] }),
      customer: t.field({ type: CustomerFilter }),
      ...periodFields(
        t,
        'released',
        'payments whose money reached the balance',
        ' In remote mode: NOT_OFFERED.',
      ),
    }) satisfies { [Member in keyof CardPaymentFilter]-?: unknown },
});

/** The arguments of the list, of its totals and of its updates. */
export const filterArguments = (arg: ArgBuilder<Types>) => ({
  filter: arg({ type: CardPaymentFilterInput }),
  status: arg({ type: [CardPaymentStatusEnum], deprecationReason: inFilter('status') }),
});

/** Reads the arguments as the port has them. @throws ValidationError naming the argument */
export function filterOf({ filter, status }: InputShapeFromFields<ReturnType<typeof filterArguments>>) {
  return readFilter<CardPaymentFilter>(withReplaced(filter, { status }));
}
